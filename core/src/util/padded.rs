//! A value on cache lines of its own, where there are caches.

/// A value that shares no cache line with a neighbour: two threads that write two of them do not slow each other down.
///
/// 128 bytes where the hardware fetches lines in pairs or has lines of that size, 256 on s390x, 64 elsewhere under an operating system; no
/// padding on a bare microcontroller, whose memory is small and seldom cached.
#[derive(Debug, Default)]
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
#[cfg_attr(target_arch = "s390x", repr(align(256)))]
#[cfg_attr(
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "powerpc64",
        target_arch = "s390x",
        target_os = "none"
    )),
    repr(align(64))
)]
pub struct Padded<T>(T);

impl<T> Padded<T> {
    /// The value, padded.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> core::ops::Deref for Padded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
