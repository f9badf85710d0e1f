//! Reading of files named by the user: recipes, jobs, logs, journals, images. Pipes without a writer, endless devices
//! and kernel logs are refused, so that no name blocks the program.

use crate::interrupt::InterruptFlag;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Limit for handwritten files (recipe, job, host, simulated card), in bytes; the longest built-in one has 6 kB.
pub const MAX_TEXT_BYTES: u64 = 1 << 20;

const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Reason why a file was not read, worded to end a sentence that names the file.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("{0}")]
    System(#[from] io::Error),
    /// A directory, pipe, socket or device.
    #[error("it is {0}, not a plain file")]
    NotPlain(&'static str),
    /// A file that waits for more data, as some in `/proc` do.
    #[error("it is an endless stream, not a plain file")]
    Endless,
    #[error("it is longer than the limit of {}", size_text(*.most))]
    TooLong { most: u64 },
    #[error("it is not text (UTF-8)")]
    NotText,
    #[error("interrupted")]
    Interrupted,
}

fn size_text(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

pub fn open_plain(path: &Path) -> Result<File, InputError> {
    open_plain_with(path, OpenOptions::new().read(true))
}

/// Opens an existing plain file with `options`.
pub fn open_plain_with(path: &Path, options: &mut OpenOptions) -> Result<File, InputError> {
    let (file, kind) = open_nonblocking(path, options)?;
    special_kind(kind).map_or(Ok(file), |other| Err(InputError::NotPlain(other)))
}

/// Reads a plain file of at most `most` bytes.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, InputError> {
    let file = open_plain(path)?;
    InputStream { file, plain: true, interrupt: InterruptFlag::default() }.read_all(most)
}

/// Reads the text of a plain file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> Result<String, InputError> {
    String::from_utf8(read_bytes(path, most)?).map_err(|_| InputError::NotText)
}

/// Input read from start to end: a plain file, a pipe or standard input. An interrupt ends waiting for more.
#[derive(Debug)]
pub struct InputStream {
    file: File,
    plain: bool,
    interrupt: InterruptFlag,
}

impl InputStream {
    /// Opens a plain file or a pipe.
    pub fn open(path: &Path, interrupt: &InterruptFlag) -> Result<InputStream, InputError> {
        let (file, kind) = open_nonblocking(path, OpenOptions::new().read(true))?;
        match special_kind(kind) {
            Some(other) if kind != FileType::Fifo => Err(InputError::NotPlain(other)),
            other => Ok(InputStream { file, plain: other.is_none(), interrupt: interrupt.clone() }),
        }
    }

    /// Opens standard input of any kind.
    pub fn stdin(interrupt: &InterruptFlag) -> Result<InputStream, InputError> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(InputStream { file, plain: false, interrupt: interrupt.clone() })
    }

    /// Reads to the end, at most `most` bytes.
    pub fn read_all(&mut self, most: u64) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        self.read_more(&mut bytes, most)?;
        Ok(bytes)
    }

    /// Appends the rest to `bytes`, up to `most` bytes in all; beyond that it has read one byte more and returns
    /// [`InputError::TooLong`].
    pub fn read_more(&mut self, bytes: &mut Vec<u8>, most: u64) -> Result<(), InputError> {
        // One byte more than allowed reveals a longer file.
        let room = most.saturating_add(1).saturating_sub(bytes.len() as u64);
        self.take(room).read_to_end(bytes).map_err(from_io_error)?;
        if bytes.len() as u64 > most { Err(InputError::TooLong { most }) } else { Ok(()) }
    }

    fn wait_readable(&self) -> Result<(), InputError> {
        loop {
            if self.interrupt.is_raised() {
                return Err(InputError::Interrupted);
            }
            let mut asked = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut asked, Some(&CHECK_INTERVAL)) {
                // Plain files are always ready, so this is a file of `/proc` or the like that waits for more data.
                Ok(0) if self.plain => return Err(InputError::Endless),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(InputError::System(errno.into())),
            }
        }
    }
}

impl Read for &mut InputStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait_readable().map_err(io::Error::other)?;
            match self.file.read(into) {
                Err(e) if e.kind() != ErrorKind::WouldBlock => return Err(e),
                Err(_) if self.plain => return Err(io::Error::other(InputError::Endless)),
                Err(_) => {}
                read => return read,
            }
        }
    }
}

/// Recovers an `InputError` that went through `io::Error`.
fn from_io_error(error: io::Error) -> InputError {
    error.downcast::<InputError>().unwrap_or_else(InputError::System)
}

/// NONBLOCK: opening a pipe must not wait for its writer. NOCTTY: a terminal must not become the controlling one.
fn open_nonblocking(path: &Path, options: &mut OpenOptions) -> Result<(File, FileType), InputError> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    let kind = FileType::from_raw_mode(fstat(&file).map_err(io::Error::from)?.st_mode);
    Ok((file, kind))
}

/// Kind of file in words; `None` for a plain one.
fn special_kind(kind: FileType) -> Option<&'static str> {
    Some(match kind {
        FileType::RegularFile => return None,
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::BlockDevice => "a block device",
        FileType::CharacterDevice => "a character device",
        _ => "something else",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn only_plain_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, plain) = (folder.path().join("pipe"), folder.path().join("plain"));
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        std::fs::write(&plain, "text").unwrap();
        let refusal = |path: &Path| read_bytes(path, 9).unwrap_err().to_string();
        assert_eq!(refusal(&pipe), "it is a pipe, not a plain file");
        assert_eq!(refusal(folder.path()), "it is a folder, not a plain file");
        assert_eq!(refusal(Path::new("/dev/zero")), "it is a character device, not a plain file");
        assert!(refusal(Path::new("/nowhere")).contains("No such file"));
        assert_eq!(read_text(&plain, 4).unwrap(), "text");
        assert_eq!(read_bytes(&plain, 3).unwrap_err().to_string(), "it is longer than the limit of 3 bytes");
        std::fs::write(&plain, [0xff]).unwrap();
        assert!(matches!(read_text(&plain, 4), Err(InputError::NotText)));
    }

    #[test]
    fn pipe_read_ends_with_interrupt_or_data() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let interrupt = InterruptFlag::default();
        let mut stream = InputStream::open(&pipe, &interrupt).unwrap();
        let later = interrupt.clone();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            later.raise();
        });
        assert!(matches!(stream.read_all(9), Err(InputError::Interrupted)));
        stopper.join().unwrap();
        let mut stream = InputStream::open(&pipe, &InterruptFlag::default()).unwrap();
        let mut writer = OpenOptions::new().write(true).open(&pipe).unwrap();
        let slow = std::thread::spawn(move || {
            for part in ["one ", "two"] {
                writer.write_all(part.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(150));
            }
        });
        assert_eq!(stream.read_all(9).unwrap(), b"one two");
        slow.join().unwrap();
    }

    #[test]
    fn input_continues_with_larger_limit() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "0123456789").unwrap();
        let mut stream = InputStream::open(&plain, &InterruptFlag::default()).unwrap();
        let mut begun = Vec::new();
        assert!(matches!(stream.read_more(&mut begun, 4), Err(InputError::TooLong { most: 4 })));
        stream.read_more(&mut begun, 10).unwrap();
        assert_eq!(begun, b"0123456789");
    }
}
