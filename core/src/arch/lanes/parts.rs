//! Access to parts of a group of items. The length of each part is known at compile time, so kernels load and store each
//! part as a whole.

/// Returns `N` items of a group, starting at `at`.
#[inline]
pub(in crate::arch) fn part<T, const N: usize>(group: &[T], at: usize) -> &[T; N] {
    group[at..].first_chunk().expect("a part lies in its group")
}

/// Works like [`part`], but returns a mutable reference.
#[allow(dead_code, reason = "not every set stores parts")]
#[inline]
pub(in crate::arch) fn part_mut<T, const N: usize>(group: &mut [T], at: usize) -> &mut [T; N] {
    group[at..].first_chunk_mut().expect("a part lies in its group")
}
