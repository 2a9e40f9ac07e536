//! Typed IDs: the metabyte identifies the type, so the compiler can reject an ID of the wrong type.

use alloc::{vec, vec::Vec};
use core::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    ops::Deref,
    str::FromStr,
    time::Duration,
};

use super::Sno;
use crate::{Error, Generate, GenerateAsync, Result, UnixTime};

/// An object type whose IDs share one metabyte.
///
/// ```
/// use polyflake::sno::{Id, Kind};
///
/// struct User;
///
/// impl Kind for User {
///     const METABYTE: u8 = 1;
/// }
///
/// assert!(Id::<User>::parse("9afikjv326nct5if").is_ok()); // its metabyte is 1
/// ```
pub trait Kind {
    /// The metabyte of all IDs of this type.
    const METABYTE: u8;
}

/// A [`Sno`] that identifies an object of a specific type. The metabyte is always [`Kind::METABYTE`], which is checked
/// whenever an ID is created or parsed.
///
/// A typed ID has the same size, sort order, string form and methods as a `Sno`.
///
/// ```
/// use polyflake::sno::{Id, Kind, Sno};
///
/// struct User;
/// struct Order;
/// impl Kind for User {
///     const METABYTE: u8 = 1;
/// }
/// impl Kind for Order {
///     const METABYTE: u8 = 2;
/// }
///
/// let user: Id<User> = "9afikjv326nct5if".parse()?;
/// assert_eq!((user.metabyte(), user.to_string().as_str()), (1, "9afikjv326nct5if"));
/// let error = "9afikjv326nct5if".parse::<Id<Order>>().unwrap_err();
/// assert_eq!(error.to_string(), "expected metabyte 2, found 1");
/// assert_eq!(size_of::<Option<Id<User>>>(), size_of::<Option<Sno>>());
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// An `Id<User>` is not an `Id<Order>`:
///
/// ```compile_fail,E0308
/// # use polyflake::sno::{Id, Kind};
/// # struct User;
/// # struct Order;
/// # impl Kind for User {
/// #     const METABYTE: u8 = 1;
/// # }
/// # impl Kind for Order {
/// #     const METABYTE: u8 = 2;
/// # }
/// fn ship(order: Id<Order>) {}
/// ship(Id::<User>::parse("9afikjv326nct5if").unwrap());
/// ```
#[repr(transparent)]
pub struct Id<T> {
    sno: Sno,
    // The marker is a function type, so that `Id<T>` is `Send` and `Sync` for every `T` and does not count as owning a `T`.
    kind: PhantomData<fn() -> T>,
}

impl<T: Kind> Id<T> {
    /// Creates a typed ID if `id` has the type's metabyte.
    ///
    /// ```
    /// use polyflake::sno::{Id, Kind, Sno};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let id = Sno::parse("9afikjv326nct5if")?;
    /// assert_eq!(*Id::<User>::new(id)?, id);
    /// assert_eq!(Id::<User>::new(id.with_metabyte(2)).unwrap_err().code(), "out_of_range");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the metabyte is different.
    pub fn new(id: Sno) -> Result<Self> {
        Self::from_sno_checked(id).ok_or_else(|| wrong_kind(id.metabyte(), T::METABYTE))
    }

    const fn from_sno_checked(sno: Sno) -> Option<Self> {
        if sno.metabyte() == T::METABYTE { Some(Self { sno, kind: PhantomData }) } else { None }
    }

    /// Returns the ID with the metabyte replaced by the kind's metabyte.
    #[cfg(feature = "arbitrary")]
    pub(super) const fn with_kind(id: Sno) -> Self {
        Self { sno: id.with_metabyte(T::METABYTE), kind: PhantomData }
    }

    /// Parses a typed ID.
    ///
    /// ```
    /// use polyflake::sno::{Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// assert_eq!(Id::<User>::parse("9afikjv326nct5if")?.partition(), 10925);
    /// assert_eq!(Id::<User>::parse("9afikjv3").unwrap_err().code(), "invalid_length");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Sno::parse`], and `out_of_range` if the metabyte is different.
    pub fn parse(text: &str) -> Result<Self> {
        Self::new(Sno::parse(text)?)
    }

    /// Parses a typed ID at compile time. Returns `None` if [`Id::parse`] would return an error.
    ///
    /// ```
    /// use polyflake::sno::{Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// const ROOT: Id<User> = Id::parse_const("9afikjv326nct5if").unwrap();
    /// assert_eq!(ROOT.metabyte(), 1);
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        match Sno::parse_const(text) {
            Some(id) => Self::from_sno_checked(id),
            None => None,
        }
    }

    /// Generates a new ID with the default generator.
    ///
    /// ```
    /// use polyflake::sno::{Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let (first, second) = (Id::<User>::generate()?, Id::<User>::generate()?);
    /// assert!(first < second);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`](super::Generator::generate).
    #[cfg(feature = "std")]
    pub fn generate() -> Result<Self> {
        super::generate(T::METABYTE).and_then(Self::new)
    }

    /// Generates a new ID with the given generator, leased generator or handle.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let ids = Generator::builder().partition(7).build()?;
    /// assert_eq!(Id::<User>::generate_with(&ids)?.partition(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`](super::Generator::generate).
    #[inline]
    pub fn generate_with(generator: &(impl Generate<Sno> + ?Sized)) -> Result<Self> {
        generator.generate(T::METABYTE).and_then(Self::new)
    }

    /// Generates a new ID with the given generator if one is available without waiting.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let ids = Generator::new();
    /// assert_eq!(Id::<User>::try_generate_with(&ids)?.metabyte(), 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate`](super::Generator::try_generate).
    #[inline]
    pub fn try_generate_with(generator: &(impl Generate<Sno> + ?Sized)) -> Result<Self> {
        generator.try_generate(T::METABYTE).and_then(Self::new)
    }

    /// Generates `count` new IDs with the given generator.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let ids = Generator::new();
    /// assert!(Id::<User>::generate_many_with(&ids, 100)?.is_sorted());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`](super::Generator::fill). IDs that were generated before an error are
    /// lost.
    pub fn generate_many_with(
        generator: &(impl Generate<Sno> + ?Sized),
        count: usize,
    ) -> Result<Vec<Self>> {
        let mut ids = vec![Sno::default(); count];
        generator.fill(T::METABYTE, &mut ids)?;
        ids.into_iter().map(Self::new).collect()
    }

    /// Generates a new ID with the given generator. If the call has to wait, it awaits `sleep`, for example
    /// `tokio::time::sleep`, instead of blocking the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::sno::{Generator, Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let ids = Generator::new();
    /// let id = Id::<User>::generate_with_async(&ids, tokio::time::sleep).await?;
    /// assert_eq!(id.metabyte(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`](super::Generator::generate).
    pub async fn generate_with_async(
        generator: &impl GenerateAsync<Sno>,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        generator.generate_async(sleep, T::METABYTE).await.and_then(Self::new)
    }

    /// Generates `count` new IDs with the given generator. If the call has to wait, it awaits `sleep` instead of blocking
    /// the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::sno::{Generator, Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let ids = Generator::new();
    /// let users = Id::<User>::generate_many_with_async(&ids, tokio::time::sleep, 100).await?;
    /// assert_eq!(users.len(), 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`](super::Generator::fill). IDs that were generated before an error are
    /// lost.
    pub async fn generate_many_with_async(
        generator: &impl GenerateAsync<Sno>,
        sleep: impl AsyncFn(Duration),
        count: usize,
    ) -> Result<Vec<Self>> {
        let mut ids = vec![Sno::default(); count];
        generator.fill_async(sleep, T::METABYTE, &mut ids, &mut 0).await?;
        ids.into_iter().map(Self::new).collect()
    }

    /// Returns the lowest and the highest ID of this type in a half-open time range. Both IDs belong to the range, so you
    /// can use them directly in `BETWEEN` queries. See [`Sno::time_range`].
    ///
    /// ```
    /// use polyflake::sno::{Id, Kind};
    ///
    /// struct User;
    /// impl Kind for User {
    ///     const METABYTE: u8 = 1;
    /// }
    ///
    /// let (lowest, highest) = Id::<User>::time_range(1_767_225_600_000, 1_767_312_000_000)?;
    /// assert!((lowest..=highest).contains(&Id::parse("9d5ve8222622g222")?));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Sno::time_range`].
    pub fn time_range(
        start: impl Into<UnixTime>,
        end: impl Into<UnixTime>,
    ) -> Result<(Self, Self)> {
        let (lowest, highest) = Sno::time_range(start, end)?;
        let with_kind = |id: Sno| Self::new(id.with_metabyte(T::METABYTE));
        Ok((with_kind(lowest)?, with_kind(highest)?))
    }
}

/// Returns the error for an ID of a different type.
#[cold]
fn wrong_kind(found: u8, expected: u8) -> Error {
    Error::out_of_range("metabyte", found.into(), expected.into(), expected.into())
}

impl<T> Deref for Id<T> {
    type Target = Sno;
    fn deref(&self) -> &Sno {
        &self.sno
    }
}

// `Clone` is not derived, because the derive would require `T: Clone`.
impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.sno == other.sno
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sno.cmp(&other.sno)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sno.hash(state);
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Id").field(&self.sno.text()).finish()
    }
}

impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sno.fmt(f)
    }
}

impl<T> AsRef<[u8]> for Id<T> {
    fn as_ref(&self) -> &[u8] {
        self.sno.as_bytes()
    }
}

impl<T> From<Id<T>> for Sno {
    fn from(id: Id<T>) -> Self {
        id.sno
    }
}

impl<T: Kind> TryFrom<Sno> for Id<T> {
    type Error = Error;
    fn try_from(id: Sno) -> Result<Self> {
        Self::new(id)
    }
}

impl<T: Kind> TryFrom<&str> for Id<T> {
    type Error = Error;
    fn try_from(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl<T: Kind> TryFrom<&[u8]> for Id<T> {
    type Error = Error;
    fn try_from(bytes: &[u8]) -> Result<Self> {
        Self::new(Sno::from_slice(bytes)?)
    }
}

impl<T: Kind> FromStr for Id<T> {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}
