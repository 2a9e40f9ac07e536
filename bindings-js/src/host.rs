//! What a kind of machine stands on: its time, and how chance gets to it.

use core::cell::Cell;

use polyflake::{Error, ErrorKind, Result, clock::Clock};

/// Random bytes that are offered to a generator, which takes them when it makes its first ID.
pub(crate) type Offer = [u8; 8];

/// The clock of a kind of machine, and the place where the running call finds what it is offered.
pub trait Host: Clock + 'static {
    /// The system's clock.
    fn system() -> Self;

    /// Whether it is the system's clock, which calls nothing back.
    fn is_system(&self) -> bool;

    /// Lays out an offer for the running call; gives back what lay there.
    fn replace_offer(offer: Option<[u8; 8]>) -> Option<[u8; 8]>;

    /// Says whether the running call is in a hurry: then clocks have no patience, so that it does not wait. Not what they call
    /// back. Gives back what was said before.
    fn replace_hurry(hurry: bool) -> bool;
}

/// How a call makes many IDs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// All of them, waiting where the generator does.
    Usual,
    /// As many as there are for now.
    Hurried,
}

impl Pace {
    /// Makes `count` IDs, and says how many there are.
    pub(crate) fn make<C: Host>(
        self,
        count: usize,
        make: impl FnOnce() -> Result<()>,
    ) -> Result<usize> {
        let outer = C::replace_hurry(self == Self::Hurried);
        let made = make();
        C::replace_hurry(outer);
        match made {
            Err(error) if self == Self::Hurried && is_of_now(&error) => {
                Ok(error.written().unwrap_or(0))
            }
            made => made.map(|()| count),
        }
    }
}

/// Whether a generator refused what it will have later.
fn is_of_now(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}

/// A generator that draws, and what it is offered.
///
/// The offer stays with the generator until it is taken: one whose clock fails does not use up offer after offer, a clock
/// that calls another generator does not give that one's to this, and nobody takes the same one twice.
#[derive(Debug)]
pub(crate) struct Offered<G> {
    pub(crate) generator: G,
    pub(crate) offer: Cell<Option<Offer>>,
}

impl<G> Offered<G> {
    pub(crate) const fn new(generator: G) -> Self {
        Self { generator, offer: Cell::new(None) }
    }

    /// Makes a call that may take the offer. Without one there is nothing to draw any more.
    #[inline]
    pub(crate) fn with<C: Host, T>(&self, call: impl FnOnce(&G) -> T) -> T {
        match self.offer.take() {
            None => call(&self.generator),
            offer => self.offering::<C, T>(offer, call),
        }
    }

    #[cold]
    fn offering<C: Host, T>(&self, offer: Option<Offer>, call: impl FnOnce(&G) -> T) -> T {
        let outer = C::replace_offer(offer);
        let result = call(&self.generator);
        self.offer.set(C::replace_offer(outer));
        result
    }
}

/// Takes what the running call is offered.
pub(crate) fn offered<C: Host>() -> Result<Offer> {
    C::replace_offer(None).ok_or(Error::new(ErrorKind::EntropyUnavailable))
}
