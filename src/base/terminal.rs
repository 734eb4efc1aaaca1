//! The terminal, which this process shares with the programs that it starts.

#[cfg(unix)]
pub(crate) use unix::{Uninterrupted, leave};
#[cfg(not(unix))]
pub(crate) use windows::{Uninterrupted, leave};

#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library has no such calls")]
mod unix {
    use std::fs::File;
    use std::os::fd::AsRawFd as _;

    use libc::{SIG_IGN, SIGINT, SIGQUIT, sighandler_t};

    /// Leaves the terminal: from now on, neither this process nor a program that it starts can ask or show anything there. The process
    /// must not have other threads yet.
    pub(crate) fn leave() {
        // SAFETY: no other thread reads the environment.
        unsafe { std::env::remove_var("GPG_TTY") };
        let Ok(terminal) = File::open("/dev/tty") else { return };
        // SAFETY: neither call takes a pointer.
        unsafe {
            // If the leader of a session left, the system would end the programs of the terminal.
            if libc::getsid(0) != libc::getpid() {
                libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY);
            }
        }
    }

    /// While this lives, Ctrl-C and Ctrl-\ do not end this process: a program that was started before owns the terminal, and decides what
    /// they mean.
    pub(crate) struct Uninterrupted([(i32, sighandler_t); 2]);

    impl Uninterrupted {
        pub(crate) fn new() -> Self {
            // SAFETY: the handler is one of the system.
            Self([SIGINT, SIGQUIT].map(|signal| (signal, unsafe { libc::signal(signal, SIG_IGN) })))
        }
    }

    impl Drop for Uninterrupted {
        fn drop(&mut self) {
            for (signal, handler) in self.0 {
                // SAFETY: the handler is the one from before.
                unsafe { libc::signal(signal, handler) };
            }
        }
    }
}

#[cfg(not(unix))]
mod windows {
    pub(crate) fn leave() {}

    pub(crate) struct Uninterrupted;

    impl Uninterrupted {
        pub(crate) fn new() -> Self {
            Self
        }
    }
}
