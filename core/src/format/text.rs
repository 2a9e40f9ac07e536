//! Short strings on the stack.

use core::{fmt, ops::Deref};

use crate::narrow;

/// A short ASCII string of at most `N` characters, stored on the stack.
///
/// ```
/// use polyflake::sno::Sno;
///
/// let text = Sno::from_bytes([0; 10]).text();
/// assert_eq!(&*text, "2222222222222222");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> Text<N> {
    /// Creates a string from the first `length` bytes of `bytes`.
    ///
    /// # Safety
    /// The first `length` bytes must be ASCII.
    #[allow(unsafe_code)]
    pub(crate) const unsafe fn new_unchecked(bytes: [u8; N], length: usize) -> Self {
        assert!(length <= N && N <= u8::MAX as usize);
        Self { bytes, length: narrow::u8(length as u64) }
    }

    /// Returns the string.
    ///
    /// ```
    /// let text = polyflake::sno::Sno::MIN.text();
    /// assert!(text.as_str().chars().all(|c| c == '2')); // or, by `Deref`, `text.chars()`
    /// ```
    pub fn as_str(&self) -> &str {
        debug_assert!(self.as_bytes().is_ascii());
        // SAFETY: only `new_unchecked` creates a `Text`, and its callers guarantee that these bytes are ASCII.
        #[allow(unsafe_code)]
        unsafe {
            core::str::from_utf8_unchecked(self.as_bytes())
        }
    }

    /// Returns the bytes of the string.
    ///
    /// ```
    /// let text = polyflake::randflake::Randflake::from_i64(7).text();
    /// assert_eq!(text.as_bytes(), b"7"); // without padding
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl<const N: usize> Deref for Text<N> {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> AsRef<str> for Text<N> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<const N: usize> PartialEq<str> for Text<N> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
