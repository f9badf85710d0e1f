//! A connection, whichever way it came.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// A connection, whichever way it came: once made, one of TCP is read, written and shut down by the same calls as that of a
/// Unix socket.
pub(super) type Stream = UnixStream;

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
        self.stream.set_read_timeout(Some(time))?;
        self.stream.set_write_timeout(Some(time))?;
        let moved = act(self.stream, len.min(self.left))?;
        self.left -= moved;
        Ok(moved)
    }
}

impl Drop for Limited<'_> {
    fn drop(&mut self) {
        // Without it the connection ends too early, which its client sees.
        let _ = self.stream.set_read_timeout(None).and_then(|()| self.stream.set_write_timeout(None));
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
    use std::time::Duration;

    #[test]
    fn who_sends_a_byte_now_and_then_is_not_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let trickle = std::thread::spawn(move || {
            while theirs.write_all(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut stream = ours;
        let until = Instant::now() + Duration::from_millis(300);
        assert!(Limited::new(&mut stream, until, 1 << 20).read_exact(&mut [0; 4096]).is_err());
        assert!(Instant::now() >= until);
        drop(stream);
        trickle.join().unwrap();
    }

    #[test]
    fn who_never_reads_and_who_sends_without_end_are_not_waited_for() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut stream = ours;
        let soon = || Instant::now() + Duration::from_millis(100);
        assert!(Limited::new(&mut stream, soon(), 1 << 30).write_all(&vec![0; 16 << 20]).is_err());
        theirs.write_all(&[0; 100]).unwrap();
        let mut few = Limited::new(&mut stream, Instant::now() + Duration::from_secs(60), 50);
        assert!(few.read_exact(&mut [0; 50]).is_ok() && few.read_exact(&mut [0; 1]).is_err());
    }
}
