//! arbitrary: any bits are an ID; a typed ID takes the metabyte of its kind.

/// Implements the trait by a type that holds the ID's bits.
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
