//! Support for arbitrary. Any bits are an ID, and a typed ID gets the metabyte of its type.

/// Implements the trait through a type that contains the ID's bits.
macro_rules! bits {
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

pub(crate) use bits;
