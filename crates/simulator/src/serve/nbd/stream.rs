//! A connection, whichever way it came.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Does the same with either kind.
macro_rules! either {
    ($connection:expr, $stream:ident => $act:expr) => {
        match $connection {
            Stream::Tcp($stream) => $act,
            Stream::Unix($stream) => $act,
        }
    };
}

impl Stream {
    /// A second handle to the same connection.
    pub(super) fn again(&self) -> io::Result<Stream> {
        match self {
            Stream::Tcp(stream) => stream.try_clone().map(Stream::Tcp),
            Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
        }
    }

    /// Answers are sent at once, not gathered.
    pub(super) fn hurry(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nodelay(true),
            Stream::Unix(_) => Ok(()),
        }
    }

    /// How long a read or a write may wait.
    fn patience(&self, limit: Option<Duration>) -> io::Result<()> {
        either!(self, stream => {
            stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))
        })
    }

    /// Ends every read and write on it, of this and other handles.
    pub(super) fn close(&self) {
        // It may be closed already.
        let _ = either!(self, stream => stream.shutdown(Shutdown::Both));
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        either!(self, stream => stream.read(buffer))
    }
}

impl Write for Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.write(data))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that has until a certain time for a certain number of bytes, both ways together: who sends a byte now and
/// then gains nothing by it.
pub(super) struct Limited<'a> {
    stream: &'a mut Stream,
    until: Instant,
    left: usize,
}

impl<'a> Limited<'a> {
    pub(super) fn new(stream: &'a mut Stream, until: Instant, bytes: usize) -> Self {
        Limited { stream, until, left: bytes }
    }

    /// Does one read or write of at most `len` bytes.
    fn one(
        &mut self,
        len: usize,
        act: impl FnOnce(&mut Stream, usize) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let time = self.until.saturating_duration_since(Instant::now());
        if time.is_zero() || (self.left == 0 && len > 0) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.patience(Some(time))?;
        let moved = act(self.stream, len.min(self.left))?;
        self.left -= moved;
        Ok(moved)
    }
}

impl Drop for Limited<'_> {
    fn drop(&mut self) {
        // Without it the connection ends too early, which its client sees.
        let _ = self.stream.patience(None);
    }
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.one(buffer.len(), |stream, len| stream.read(&mut buffer[..len]))
    }
}

impl Write for Limited<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.one(data.len(), |stream, len| stream.write(&data[..len]))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_a_byte_now_and_then_is_not_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let trickle = std::thread::spawn(move || {
            while theirs.write_all(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut stream = Stream::Unix(ours);
        let until = Instant::now() + Duration::from_millis(300);
        assert!(Limited::new(&mut stream, until, 1 << 20).read_exact(&mut [0; 4096]).is_err());
        assert!(Instant::now() >= until);
        drop(stream);
        trickle.join().unwrap();
    }

    #[test]
    fn who_never_reads_and_who_sends_without_end_are_not_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut stream = Stream::Unix(ours);
        let soon = || Instant::now() + Duration::from_millis(100);
        assert!(Limited::new(&mut stream, soon(), 1 << 30).write_all(&vec![0; 16 << 20]).is_err());
        theirs.write_all(&[0; 100]).unwrap();
        let mut few = Limited::new(&mut stream, Instant::now() + Duration::from_secs(60), 50);
        assert!(few.read_exact(&mut [0; 50]).is_ok() && few.read_exact(&mut [0; 1]).is_err());
    }
}
