//! The weakened variants of the protocol, a row each: the rule that is left out, and the steps until the search notices.

use crate::protocol::{Operator, Size, Time};

/// The weakened part, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weak {
    Nowhere,
    NoVersion,
    ReadThenWrite,
    InclusiveEnd,
    TtlAsProof,
    ReplyBeforeDurable,
    LoweredBeforeSealed,
    ReleaseBelowBatch,
    StaleRelease,
    NowForStart,
    GrownBeforeAnswer,
    OlderAnswer,
    ReopenedByLateAnswer,
    RetakenJoined,
    KeeperInChild,
    SettledByName,
    EqualTokens,
    TokenKept,
    SnapshotBesideGrant,
    ReleaseToZero,
    ReleaseToLatest,
    UsedAfterRelease,
    DeletedRecords,
    LostRecords,
    MixedRounding,
    MovedInPlace,
    NoStart,
    RenewalsInQuietTime,
    NoQuietTime,
    SlackIntoQuietTime,
    QuietByEndsAlone,
    QuietWithoutClockError,
    RenewedPastEndFound,
    RenewedWithinClockError,
    ClaimedBeforeEnd,
    RestoredInPlace,
    DeletedStore,
    CloneTakenForItself,
    ClaimSettledByRead,
    RenewalSettledByRead,
    WarningTakenForAnswer,
    ProvedByNextVersion,
    PromotedEndsQuietTime,
    PromotedUnchecked,
    PromotedAfterLoss,
    RestoredKeepsNameBefore,
    DeadYetAlive,
    DeadByNumber,
    DeadWithoutClockError,
    DeadWithClockAhead,
    VersionAlone,
    RenewalAfterSeal,
    RenewalWithFreshToken,
    ReleaseByToken,
}

/// A variant, with the smallest size at which it was seen to break.
pub struct Variant {
    pub name: &'static str,
    pub weak: Weak,
    pub size: Size,
    /// Steps of the shortest way to an ID that is made twice; none for a harmless variant.
    pub caught: Option<usize>,
}

const fn row(name: &'static str, weak: Weak, size: Size, caught: usize) -> Variant {
    Variant { name, weak, size, caught: Some(caught) }
}

const fn harmless(name: &'static str, weak: Weak, size: Size) -> Variant {
    Variant { name, weak, size, caught: None }
}

const S: Size = Size::SMALLEST;
const THREE_CLAIMS: Size = Size { claims: 3, ..S };
const RENEWAL: Size = Size { renewals: 1, ..S };
pub const TWO_RENEWALS: Size = Size { renewals: 2, ticks: 3, ..S };
const CRASH: Size = Size { crashes: 1, ..S };
const STORE_CRASH: Size = Size { store_crashes: 1, ..S };
const HALVES: Size = Size { grain: 2, ..S };
const TWO_NUMBERS: Size = Size { numbers: 2, claims: 3, ..S };
const RESTORE: Size = Size { renewals: 0, ..Size::RESTORE };
const EXACT: Size =
    Size { time: Time::Passing { error: 0, longest: 2, slack: 0, restores: 1 }, ..Size::RESTORE };
const EXACT_TIME: Time = Time::Passing { error: 0, longest: 3, slack: 0, restores: 0 };
const CLONE: Size = Size { clones: 1, claims: 1, renewals: 2, proofs: 1, ..S };
pub const CLONED_CLAIM: Size = Size { clones: 1, claims: 1, proofs: 2, ..S };
const PROOF: Size = Size { proofs: 1, ..S };
const CRASH_AND_PROOF: Size = Size { proofs: 1, ..CRASH };
const REPLICA: Size = Size::REPLICA;
/// A backup in place and a promotion, both of which the operator tells of.
const OPERATOR: Size = Size {
    renewals: 0,
    promotions: 1,
    operator: Operator { restored: 1, promoted: 1, dead: 0 },
    time: Time::Passing { error: 1, longest: 2, slack: 1, restores: 0 },
    ..Size::RESTORE
};
pub const EXACT_OPERATOR: Size =
    Size { time: Time::Passing { error: 0, longest: 2, slack: 0, restores: 0 }, ..OPERATOR };
const PROMOTED: Size = Size { operator: Operator { restored: 0, ..OPERATOR.operator }, ..OPERATOR };
const HARMLESS: Size = Size { ticks: 3, renewals: 1, crashes: 1, ..S };

pub const VARIANTS: &[Variant] = &[
    row("a swap without the version", Weak::NoVersion, RENEWAL, 11),
    row("a read, then a write", Weak::ReadThenWrite, S, 8),
    row("an inclusive end", Weak::InclusiveEnd, S, 8),
    row("a time to live as proof", Weak::TtlAsProof, S, 8),
    row("a reply before the write is durable", Weak::ReplyBeforeDurable, STORE_CRASH, 9),
    row("an end lowered before the generator is sealed", Weak::LoweredBeforeSealed, S, 10),
    row("an end lowered below a batch in flight", Weak::ReleaseBelowBatch, S, 11),
    row("a release by a stale version", Weak::StaleRelease, THREE_CLAIMS, 13),
    row("the store's time in place of the maximum", Weak::NowForStart, S, 8),
    row("a window that grows before the answer", Weak::GrownBeforeAnswer, RENEWAL, 9),
    row("an older answer taken for this request's", Weak::OlderAnswer, TWO_RENEWALS, 13),
    row("a late answer that reopens a sealed generator", Weak::ReopenedByLateAnswer, RENEWAL, 14),
    row("a number taken again, joined to its old window", Weak::RetakenJoined, THREE_CLAIMS, 13),
    row("a keeper that goes on in a fork's child", Weak::KeeperInChild, S, 7),
    row("a reply settled by the holder's name", Weak::SettledByName, CRASH_AND_PROOF, 9),
    row("equal tokens", Weak::EqualTokens, PROOF, 9),
    row("a token kept over a restart", Weak::TokenKept, CRASH_AND_PROOF, 9),
    row("a snapshot restored beside a new grant", Weak::SnapshotBesideGrant, S, 11),
    row("a release to 0", Weak::ReleaseToZero, S, 10),
    row("a release to the latest tick in place of the highest", Weak::ReleaseToLatest, S, 11),
    row("use after an unanswered release", Weak::UsedAfterRelease, S, 11),
    row("records deleted by their release", Weak::DeletedRecords, S, 10),
    row("a lost record taken for a free one", Weak::LostRecords, S, 9),
    row("borders rounded both ways", Weak::MixedRounding, HALVES, 8),
    row("a generator that changes its number in place", Weak::MovedInPlace, TWO_NUMBERS, 12),
    row("a record without the start", Weak::NoStart, S, 8),
    row(
        "renewals of older grants in a restored store",
        Weak::RenewalsInQuietTime,
        Size::RESTORE,
        13,
    ),
    row("a restored store that is not quiet", Weak::NoQuietTime, RESTORE, 10),
    row("a slack that reaches into the quiet time", Weak::SlackIntoQuietTime, RESTORE, 12),
    row("a swap by the version alone, in a restored store", Weak::VersionAlone, RESTORE, 10),
    row("a quiet time counted from the ends alone", Weak::QuietByEndsAlone, RESTORE, 11),
    row("a quiet time without the error of clocks", Weak::QuietWithoutClockError, RESTORE, 10),
    row(
        "a renewal in a restored store past the end found there",
        Weak::RenewedPastEndFound,
        Size::RESTORE,
        13,
    ),
    row(
        "the same within the error of clocks before that end",
        Weak::RenewedWithinClockError,
        Size::RESTORE,
        13,
    ),
    row(
        "a claim before the last grant's end, and such a renewal",
        Weak::ClaimedBeforeEnd,
        EXACT,
        13,
    ),
    row("a backup restored in place, which nobody tells of", Weak::RestoredInPlace, RESTORE, 10),
    row("a store deleted beside living holders", Weak::DeletedStore, S, 9),
    row("a clone's renewal taken for one's own", Weak::CloneTakenForItself, CLONE, 12),
    row("a claim settled by a read, before a promotion", Weak::ClaimSettledByRead, REPLICA, 12),
    row(
        "a renewal settled by a read, before a promotion",
        Weak::RenewalSettledByRead,
        Size { renewals: 1, ..REPLICA },
        16,
    ),
    row("a commit with a warning taken for an answer", Weak::WarningTakenForAnswer, REPLICA, 12),
    row(
        "a settled claim written with the next version",
        Weak::ProvedByNextVersion,
        CLONED_CLAIM,
        12,
    ),
    row("a promotion that ends any quiet time", Weak::PromotedEndsQuietTime, EXACT_OPERATOR, 12),
    row(
        "a promotion not compared with the record's names",
        Weak::PromotedUnchecked,
        EXACT_OPERATOR,
        12,
    ),
    row(
        "a restored backup that leaves the name before in the record",
        Weak::RestoredKeepsNameBefore,
        EXACT_OPERATOR,
        12,
    ),
    row("a promotion that lost a write, told as none", Weak::PromotedAfterLoss, PROMOTED, 11),
    row("a living holder declared dead", Weak::DeadYetAlive, Size::DEAD, 10),
    row(
        "a dead holder's number freed without its token",
        Weak::DeadByNumber,
        Size { claims: 3, time: EXACT_TIME, ..Size::DEAD },
        12,
    ),
    row("a dead holder's number freed at once", Weak::DeadWithoutClockError, Size::DEAD, 10),
    row("a dead holder whose clock was further ahead", Weak::DeadWithClockAhead, Size::DEAD, 11),
    harmless("a swap by the version alone, elsewhere", Weak::VersionAlone, HARMLESS),
    harmless("a renewal after the local seal", Weak::RenewalAfterSeal, HARMLESS),
    harmless(
        "a lost renewal tried again with a fresh token",
        Weak::RenewalWithFreshToken,
        HARMLESS,
    ),
    harmless("a release by the token alone", Weak::ReleaseByToken, HARMLESS),
];
