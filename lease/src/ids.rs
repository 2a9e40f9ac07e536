//! Generators of IDs under a lease, one for each family.

#[cfg(feature = "std")]
pub(crate) mod generator;
pub(crate) mod granted;
#[cfg(feature = "std")]
pub mod hotguid;
#[cfg(feature = "std")]
pub mod layout;
pub(crate) mod numbered;
#[cfg(feature = "std")]
pub mod randflake;
#[cfg(feature = "std")]
pub mod sno;

/// The machine and the counter's start of a Hot Guid generator under a number, for `provide_identity`; `start` is drawn at random.
pub fn identity(number: u64, start: [u8; 3]) -> [u8; 8] {
    let [.., a, b, c] = number.to_be_bytes();
    let [x, y, z] = start;
    [a, b, c, 0, 0, x, y, z]
}
