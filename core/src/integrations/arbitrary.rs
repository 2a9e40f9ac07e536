//! arbitrary: any bits are an ID, except those of a kind's metabyte.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::{
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Id, Kind, Sno},
};

/// Implements the trait by a type that holds the ID's bits.
macro_rules! arbitrary {
    ([$($of:tt)*] $id:ty, |$bits:ident: $type:ty| $made:expr) => {
        impl<'a, $($of)*> Arbitrary<'a> for $id {
            fn arbitrary(from: &mut Unstructured<'a>) -> Result<Self> {
                let $bits = <$type>::arbitrary(from)?;
                Ok($made)
            }

            fn size_hint(depth: usize) -> (usize, Option<usize>) {
                <$type>::size_hint(depth)
            }
        }
    };
}

arbitrary!([] Sno, |bytes: [u8; Self::LEN]| Self::from_bytes(bytes));
arbitrary!([] HotGuid, |bytes: [u8; Self::LEN]| Self::from_rfc_bytes(bytes));
arbitrary!([] Randflake, |number: i64| Self::from_i64(number));
arbitrary!([T: Kind] Id<T>, |id: Sno| Self::of_kind(id));
arbitrary!([] layout::Id, |bits: core::result::Result<i64, alloc::vec::Vec<u8>>| match bits {
    Ok(number) => Self::Integer(number),
    Err(bytes) => Self::Bytes(bytes),
});
