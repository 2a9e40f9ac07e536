//! Support for the `arbitrary` crate. Every combination of bits is a valid ID, except that a typed ID always has its type's
//! metabyte.

/// Implements `Arbitrary` for an ID type by generating a value of another type that can represent the ID's bits.
macro_rules! impl_arbitrary_from_bits {
    ([$($of:tt)*] $id:ty, |$bits:ident: $type:ty| $made:expr) => {
        #[cfg(feature = "arbitrary")]
        impl<'a, $($of)*> arbitrary::Arbitrary<'a> for $id {
            fn arbitrary(from: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                let $bits = <$type as arbitrary::Arbitrary>::arbitrary(from)?;
                Ok($made)
            }

            fn size_hint(depth: usize) -> (usize, Option<usize>) {
                <$type as arbitrary::Arbitrary>::size_hint(depth)
            }
        }
    };
}

pub(crate) use impl_arbitrary_from_bits;
