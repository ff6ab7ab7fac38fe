//! Unpacks an archive of gzip members, past bytes that are none and past damaged members.

use std::io::{self, BufRead, Chain, Cursor, Read};

use flate2::bufread::GzDecoder;

/// Notes of damage that are logged for one archive.
const MOST_TOLD: usize = 20;

/// What a member begins with: the magic number, and the one method there is.
const BEGIN: [u8; 3] = [0x1f, 0x8b, 8];

/// The unpacked bytes of all members, one after the other.
pub(super) struct Members<R> {
    /// What is to be read; `None` only within a call.
    state: Option<State<R>>,
    name: String,
    n_told: usize,
}

/// A member, whose first bytes were read already.
type Member<R> = Chain<Cursor<[u8; BEGIN.len()]>, R>;

enum State<R> {
    Between(R),
    Within(Box<GzDecoder<Member<R>>>),
    Ended,
}

impl<R: BufRead> Members<R> {
    /// `name` is what the archive is called in the log.
    pub(super) fn new(source: R, name: String) -> Members<R> {
        Members { state: Some(State::Between(source)), name, n_told: 0 }
    }

    fn tell(&mut self, what: &str) {
        self.n_told += 1;
        if self.n_told <= MOST_TOLD {
            tracing::warn!("{}: {what}, passed over", self.name);
        }
    }

    /// Goes on to the next bytes that may begin a member.
    fn next_member(&mut self, mut source: R) -> io::Result<State<R>> {
        let (mut n_passed, mut n_alike) = (0, 0);
        while n_alike < BEGIN.len() {
            let bytes = source.fill_buf()?;
            let Some(&byte) = bytes.first() else {
                if n_passed + n_alike > 0 {
                    self.tell(&format!("{} bytes at the end are no gzip member", n_passed + n_alike));
                }
                return Ok(State::Ended);
            };
            let n = match (byte == BEGIN[n_alike], n_alike) {
                (true, _) => {
                    n_alike += 1;
                    1
                }
                (false, 0) => memchr::memchr(BEGIN[0], bytes).unwrap_or(bytes.len()),
                (false, _) => 0,
            };
            if n == 0 {
                n_passed += std::mem::take(&mut n_alike);
            } else if n_alike == 0 {
                n_passed += n;
            }
            source.consume(n);
        }
        if n_passed > 0 {
            self.tell(&format!("{n_passed} bytes are no gzip member"));
        }
        Ok(State::Within(Box::new(GzDecoder::new(Cursor::new(BEGIN).chain(source)))))
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state.take().unwrap_or(State::Ended) {
                State::Ended => {
                    self.state = Some(State::Ended);
                    return Ok(0);
                }
                State::Between(source) => self.state = Some(self.next_member(source)?),
                State::Within(mut member) => match member.read(buffer) {
                    Ok(0) if !buffer.is_empty() => {
                        self.state = Some(State::Between(member.into_inner().into_inner().1))
                    }
                    Ok(n) => {
                        self.state = Some(State::Within(member));
                        return Ok(n);
                    }
                    // What the system says is no damage of the file.
                    Err(error) if error.raw_os_error().is_some() => return Err(error),
                    Err(error) => {
                        self.tell(&format!("damaged gzip member ({error})"));
                        self.state = Some(State::Between(member.into_inner().into_inner().1));
                    }
                },
            }
        }
    }
}
