//! Asynchronous calls, which wait without blocking the thread. Each call is a future from the core that JavaScript polls.
//!
//! Each poll is a turn. A turn either completes the call or sets the time to sleep before the next turn. Therefore the core
//! alone decides when a call waits, for how long, and when it gives up. JavaScript only sleeps, using the host's timers, so
//! that mocked timers and aborted calls work as in any other code. The backend needs neither an executor nor wakers.
//!
//! The first turn runs in the call itself. A call that does not wait completes in this turn, without a handle and without a
//! timer.

use alloc::{boxed::Box, vec::Vec};
use core::{
    cell::RefCell,
    fmt,
    future::{Future, poll_fn},
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use polyflake::Result;

use crate::{
    Host, Machine, Scratch, ScratchRef,
    handles::{Object, released_handle_error},
    protocol::register,
};

/// A call that runs in turns. It writes its ID into the scratch area, and returns any bytes that do not fit there.
type PendingCall = Pin<Box<dyn Future<Output = Result<Vec<u8>>>>>;

/// A call that is suspended between two turns.
pub(crate) struct SuspendedCall(RefCell<PendingCall>);

impl fmt::Debug for SuspendedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SuspendedCall")
    }
}

impl Scratch {
    /// Ends the turn, and makes JavaScript sleep for the given time.
    #[allow(clippy::cast_precision_loss, reason = "a wait is cut into pieces of 10 ms")]
    pub(crate) async fn sleep(&self, time: Duration) {
        self.put_number(register::SLEEP, time.as_nanos() as f64);
        let mut has_slept = false;
        poll_fn(
            |_| if mem::replace(&mut has_slept, true) { Poll::Ready(()) } else { Poll::Pending },
        )
        .await;
    }
}

/// The turns of asynchronous calls. Each turn writes the number of nanoseconds to sleep into the register
/// [`register::SLEEP`], or NaN if the call is done.
impl<C: Host> Machine<C> {
    /// Runs the first turn of a call. Writes the answer, or a handle for the next turn.
    pub(crate) fn begin(
        &self,
        at: ScratchRef,
        call: impl Future<Output = Result<Vec<u8>>> + 'static,
    ) -> Result<()> {
        let mut turns: PendingCall = Box::pin(call);
        if !self.poll(&mut turns)? {
            self.put_object(at, Object::Waiting(SuspendedCall(RefCell::new(turns))));
        }
        Ok(())
    }

    /// Runs the next turn of a call, given its handle. Writes the answer. The caller releases the handle once the call is
    /// done.
    pub fn turn(&self, at: ScratchRef) -> Result<()> {
        let object = self.find_object(at.read_usize(register::HANDLE))?;
        // The current turn may read a caller's clock, which may make further calls. If such a call borrows the future
        // again, it must return an error instead of panicking.
        let mut turns =
            object.waiting()?.0.try_borrow_mut().map_err(|_| released_handle_error())?;
        self.poll(&mut turns).map(drop)
    }

    /// Returns whether the call is done.
    #[inline(never)]
    fn poll(&self, turns: &mut PendingCall) -> Result<bool> {
        // No waker is needed, because JavaScript polls again after the time in the `SLEEP` register.
        let Poll::Ready(answer) = turns.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        else {
            return Ok(false);
        };
        self.message.replace(answer?);
        self.scratch.put_number(register::SLEEP, f64::NAN);
        Ok(true)
    }
}
