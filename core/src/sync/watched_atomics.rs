//! The atomics that unit tests use. A test can intercept every atomic access on its thread, either to run other calls
//! before the access ([`run_with_interruption`]), or to perform the access on simulated memory (`explorer`).
//!
//! Only unit tests of this crate use these types. Every other build uses the real atomics. A test observes the accesses in
//! program order, so it misses the reorderings that a weaker memory model allows. The loom models cover those reorderings.

use core::ops::Deref;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use super::Ordering;

/// The operation that an access performs on a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Load,
    Store(u128),
    Swap(u128),
    CompareExchange { from: u128, to: u128 },
    Max(u128),
    Or(u128),
    Add(u128),
}

impl Operation {
    /// Applies the operation to `value`. Returns the new value, and whether the operation failed.
    pub(crate) fn apply(self, value: u128) -> (u128, bool) {
        match self {
            Self::Load => (value, false),
            Self::Store(new) | Self::Swap(new) => (new, false),
            Self::CompareExchange { from, to } if from == value => (to, false),
            Self::CompareExchange { .. } => (value, true),
            Self::Max(other) => (value.max(other), false),
            Self::Or(bits) => (value | bits, false),
            Self::Add(number) => (value.wrapping_add(number), false),
        }
    }
}

/// The result of an access: the previous value, and whether the access was a compare-and-swap that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Answer {
    pub(crate) before: u128,
    pub(crate) failed: bool,
}

/// An access that is about to happen.
pub(crate) struct Access<'a> {
    /// The address of the atomic, which identifies it.
    pub(crate) address: usize,
    pub(crate) operation: Operation,
    /// The largest value of the atomic's type.
    pub(crate) max: u128,
    /// Loads the real atomic.
    pub(crate) load: &'a dyn Fn() -> u128,
    /// Performs the operation on the real atomic.
    pub(crate) perform: &'a dyn Fn() -> Answer,
}

type Interceptor = Rc<dyn Fn(&Access<'_>) -> Answer>;

std::thread_local! {
    static INTERCEPTOR: RefCell<Option<Interceptor>> = const { RefCell::new(None) };
}

/// Restores the previous interceptor when it is dropped, even if a test panics.
struct InterceptorGuard(Option<Interceptor>);

impl Drop for InterceptorGuard {
    fn drop(&mut self) {
        INTERCEPTOR.set(self.0.take());
    }
}

/// Runs `work`. Until `work` returns, this thread calls `interceptor` for each atomic access instead of performing the
/// access.
pub(crate) fn with_interceptor<R>(interceptor: Option<Interceptor>, work: impl FnOnce() -> R) -> R {
    let _restored = InterceptorGuard(INTERCEPTOR.replace(interceptor));
    work()
}

/// Runs `call`, and runs `others` before access number `at` of that call. Returns the call's result as `Ok`, or as `Err` if
/// the call performed too few accesses for `others` to run.
pub(crate) fn run_with_interruption<R>(
    at: usize,
    others: impl FnOnce() + 'static,
    call: impl FnOnce() -> R,
) -> Result<R, R> {
    let (passed, others) = (Rc::new(Cell::new(0)), Cell::new(Some(others)));
    let counter = passed.clone();
    let interceptor = Rc::new(move |access: &Access<'_>| {
        if counter.replace(counter.get() + 1) == at
            && let Some(others) = others.take()
        {
            with_interceptor(None, others);
        }
        (access.perform)()
    });
    let result = with_interceptor(Some(interceptor), call);
    if passed.get() > at { Ok(result) } else { Err(result) }
}

/// The result of an atomic operation, which can be converted to and from an [`Answer`].
trait Outcome {
    fn into_answer(self) -> Answer;
    fn from_answer(answer: Answer) -> Self;
}

impl Outcome for () {
    fn into_answer(self) -> Answer {
        Answer { before: 0, failed: false }
    }
    fn from_answer(_: Answer) {}
}

macro_rules! define_watched_atomics {
    ($($name:ident: $value:ty),*) => {$(
        impl Outcome for $value {
            fn into_answer(self) -> Answer {
                Answer { before: self.into(), failed: false }
            }
            fn from_answer(answer: Answer) -> Self {
                answer.before.try_into().expect("a value of the atomic's type")
            }
        }

        impl Outcome for Result<$value, $value> {
            fn into_answer(self) -> Answer {
                let failed = self.is_err();
                let (Ok(before) | Err(before)) = self;
                Answer { before: before.into(), failed }
            }
            fn from_answer(answer: Answer) -> Self {
                let before = <$value>::from_answer(answer);
                if answer.failed { Err(before) } else { Ok(before) }
            }
        }

        #[derive(Debug)]
        #[repr(transparent)]
        pub(crate) struct $name(portable_atomic::$name);

        #[allow(dead_code, reason = "a listed fault may use what the code does not")]
        impl $name {
            pub(crate) const fn new(value: $value) -> Self {
                Self(portable_atomic::$name::new(value))
            }

            fn access<R: Outcome>(&self, operation: Operation, perform: impl Fn() -> R) -> R {
                let interceptor = INTERCEPTOR.try_with(|place| place.borrow().clone());
                let Ok(Some(interceptor)) = interceptor else { return perform() };
                R::from_answer(interceptor(&Access {
                    address: (&raw const *self).addr(),
                    operation,
                    max: <$value>::MAX.into(),
                    load: &|| self.0.load(Ordering::SeqCst).into(),
                    perform: &|| perform().into_answer(),
                }))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.access(Operation::Load, || self.0.load(order))
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.access(Operation::Store(value.into()), || self.0.store(value, order));
            }

            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.access(Operation::Swap(value.into()), || self.0.swap(value, order))
            }

            pub(crate) fn compare_exchange(
                &self,
                from: $value,
                to: $value,
                order: Ordering,
                failed: Ordering,
            ) -> Result<$value, $value> {
                let operation = Operation::CompareExchange { from: from.into(), to: to.into() };
                self.access(operation, || self.0.compare_exchange(from, to, order, failed))
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                from: $value,
                to: $value,
                order: Ordering,
                failed: Ordering,
            ) -> Result<$value, $value> {
                let operation = Operation::CompareExchange { from: from.into(), to: to.into() };
                self.access(operation, || self.0.compare_exchange_weak(from, to, order, failed))
            }

            pub(crate) fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.access(Operation::Max(value.into()), || self.0.fetch_max(value, order))
            }

            pub(crate) fn fetch_or(&self, bits: $value, order: Ordering) -> $value {
                self.access(Operation::Or(bits.into()), || self.0.fetch_or(bits, order))
            }

            pub(crate) fn fetch_add(&self, number: $value, order: Ordering) -> $value {
                self.access(Operation::Add(number.into()), || self.0.fetch_add(number, order))
            }
        }
    )*};
}

define_watched_atomics!(AtomicU32: u32, AtomicU64: u64, AtomicU128: u128);

/// An atomic pointer. A test can run other calls before an access to it, but cannot simulate the result of the access.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct AtomicPtr<T>(portable_atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    pub(crate) const fn new(pointer: *mut T) -> Self {
        Self(portable_atomic::AtomicPtr::new(pointer))
    }
}

impl<T> Deref for AtomicPtr<T> {
    type Target = portable_atomic::AtomicPtr<T>;

    fn deref(&self) -> &Self::Target {
        let interceptor = INTERCEPTOR.try_with(|place| place.borrow().clone());
        if let Ok(Some(interceptor)) = interceptor {
            interceptor(&Access {
                address: (&raw const *self).addr(),
                operation: Operation::Load,
                max: u128::MAX,
                load: &|| 0,
                perform: &|| ().into_answer(),
            });
        }
        &self.0
    }
}
