//! What the process has used, but for the thread that asks.

/// Processor time and voluntary context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Microseconds of all threads, in user mode and in the kernel.
    pub cpu_us: f64,
    /// How often a thread gave its processor up to wait.
    pub switches: f64,
}

impl Usage {
    /// The difference.
    pub fn since(self, earlier: Self) -> Self {
        Self { cpu_us: self.cpu_us - earlier.cpu_us, switches: self.switches - earlier.switches }
    }
}

/// Of all threads, the one that asks included.
pub fn now() -> Usage {
    of(libc::RUSAGE_SELF)
}

/// Of all threads but the one that asks.
pub fn of_others() -> Usage {
    now().since(of(OF_THIS_THREAD))
}

#[cfg(target_os = "linux")]
const OF_THIS_THREAD: libc::c_int = libc::RUSAGE_THREAD;
// Elsewhere there is no such count, and the thread that asks, which sleeps, is not taken out.
#[cfg(not(target_os = "linux"))]
const OF_THIS_THREAD: libc::c_int = libc::RUSAGE_CHILDREN;

fn of(who: libc::c_int) -> Usage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, which the call may write.
    let failed = unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0;
    if failed {
        return Usage { cpu_us: f64::NAN, switches: f64::NAN };
    }
    // SAFETY: all zero bytes are an `rusage`, and the call has written one over them.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    Usage { cpu_us: us(usage.ru_utime) + us(usage.ru_stime), switches: usage.ru_nvcsw as f64 }
}
