//! A thermometer that is a file: a data logger appends lines to a CSV file, and the last one holds the temperature.

use super::extra::SensorError;
use super::number;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of the end of the file that are looked at; lines of data loggers are short.
const TAIL_BYTES: u64 = 4096;

/// A file that has not been written to for this long tells the past.
const SILENT: Duration = Duration::from_secs(60);

/// A CSV file that grows.
#[derive(Debug)]
pub(super) struct Growing {
    path: PathBuf,
    column: Column,
}

/// Which field of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Last,
    /// Counted from 0.
    Number(usize),
    /// By the head line, found when there is one.
    Named(String),
}

impl Growing {
    pub(super) fn open(path: &Path, column: Option<&str>) -> Result<Self, SensorError> {
        let column = match column {
            None => Column::Last,
            Some(text) => match text.parse::<usize>() {
                Ok(number @ 1..) => Column::Number(number - 1),
                _ => Column::Named(text.to_owned()),
            },
        };
        let no_file = |reason: String| SensorError::NoFile { path: path.to_owned(), reason };
        let about = std::fs::metadata(path).map_err(|error| no_file(error.to_string()))?;
        if !about.is_file() {
            return Err(no_file("it is no plain file".to_owned()));
        }
        Ok(Growing { path: path.to_owned(), column })
    }

    /// The temperature in its last whole line, or what is wrong as a sentence.
    pub(super) fn celsius(&mut self) -> Result<f64, String> {
        self.look().map_err(|what| {
            format!("the thermometer file {} gave no temperature: {what}", self.path.display())
        })
    }

    fn look(&self) -> Result<f64, String> {
        let file = File::open(&self.path).map_err(|error| error.to_string())?;
        let about = file.metadata().map_err(|error| error.to_string())?;
        let silent = about.modified().ok().and_then(|at| at.elapsed().ok());
        if silent.is_some_and(|silent| silent > SILENT) {
            return Err(format!("nothing was added to it for {} s", SILENT.as_secs()));
        }
        let tail = tail(&file, about.len()).map_err(|error| error.to_string())?;
        let line = last_line(&tail).ok_or("it holds no line yet")?;
        let place = self.place(&file)?;
        let fields = fields(line);
        let field = match place {
            None => fields.last(),
            Some(place) => fields.get(place),
        };
        number::celsius(field.ok_or("its last line has too few columns")?)
    }

    /// The field wanted; `None` for the last one.
    fn place(&self, file: &File) -> Result<Option<usize>, String> {
        match &self.column {
            Column::Last => Ok(None),
            Column::Number(number) => Ok(Some(*number)),
            Column::Named(name) => {
                let mut head = vec![0; TAIL_BYTES as usize];
                let read = file.read_at(&mut head, 0).map_err(|error| error.to_string())?;
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                let names = fields(head.lines().next().unwrap_or_default());
                let found = names.iter().position(|field| field.eq_ignore_ascii_case(name));
                found.map(Some).ok_or_else(|| {
                    format!("its first line names no column {name:?}, but {}", names.join(", "))
                })
            }
        }
    }
}

fn tail(file: &File, bytes: u64) -> std::io::Result<String> {
    let start = bytes.saturating_sub(TAIL_BYTES);
    let mut tail = vec![0; (bytes - start) as usize];
    let read = file.read_at(&mut tail, start)?;
    Ok(String::from_utf8_lossy(&tail[..read]).into_owned())
}

/// The last line that is ended, since the one after it may be half written; a file of a single line without an end
/// is taken as it is.
fn last_line(text: &str) -> Option<&str> {
    let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
    whole.lines().rev().map(str::trim).find(|line| !line.is_empty())
}

/// Fields between semicolons or tabs where there are any, else commas; quotes around a field go.
fn fields(line: &str) -> Vec<&str> {
    let between = [';', '\t'].into_iter().find(|c| line.contains(*c)).unwrap_or(',');
    line.split(between).map(|field| field.trim().trim_matches('"').trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(content: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file
    }

    fn read(content: &str, column: Option<&str>) -> Result<f64, String> {
        Growing::open(file(content).path(), column).map(drop).unwrap();
        let file = file(content);
        Growing::open(file.path(), column).unwrap().celsius()
    }

    #[test]
    fn the_last_column_of_the_last_whole_line_is_taken() {
        assert_eq!(read("time,probe\n1,20.5\n2,21.25\n", None), Ok(21.25));
        assert_eq!(read("1,20.5\n2,21.25\n3,2", None), Ok(21.25), "the third line is half written");
        assert_eq!(read("22.5", None), Ok(22.5));
    }

    #[test]
    fn a_column_may_be_named_or_numbered() {
        let log = "time;reader;room\n10:00;41,5;22,0\n";
        assert_eq!(read(log, Some("reader")), Ok(41.5));
        assert_eq!(read(log, Some("3")), Ok(22.0));
        assert!(read(log, Some("soc")).unwrap_err().contains("time, reader, room"));
        assert!(read(log, Some("9")).unwrap_err().contains("too few columns"));
    }

    #[test]
    fn what_holds_no_temperature_is_told() {
        assert!(read("", None).unwrap_err().contains("no line"));
        assert!(read("time,probe\n", None).unwrap_err().contains("no number"));
        let missing = Growing::open(Path::new("/no/such.csv"), None).unwrap_err();
        assert!(missing.to_string().contains("/no/such.csv"));
        assert!(Growing::open(Path::new("/dev/zero"), None).is_err());
    }

    #[test]
    fn a_file_that_nobody_writes_to_any_more_tells_the_past() {
        let file = file("1,20\n");
        let past = std::time::SystemTime::now() - Duration::from_secs(120);
        file.as_file().set_modified(past).unwrap();
        let error = Growing::open(file.path(), None).unwrap().celsius().unwrap_err();
        assert!(error.contains("60 s"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn no_file_panics(text in "\\PC{0,80}[\n;,\t]{0,4}\\PC{0,20}") {
            let _ = last_line(&text).map(fields);
        }
    }
}
