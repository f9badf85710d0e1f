// What was started, mounted or made goes when the program ends, however it ends: the newest first.

const undo = new Set();

/** Remembers how to undo something; what is returned undoes it now. */
export const later = what => {
  undo.add(what);
  return () => {
    if (!undo.delete(what)) return;
    try {
      what();
    } catch (error) {
      console.error(`left behind: ${error.message}`);
    }
  };
};

export const clean = () => [...undo].reverse().forEach(what => {
  undo.delete(what);
  try {
    what();
  } catch (error) {
    console.error(`left behind: ${error.message}`);
  }
});

process.on('exit', clean);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
