//! The weakened variants of the protocol. Each row names the omitted rule and the number of steps after which the search
//! detects the omission.

use crate::protocol::{Gaps, Operator, Size, Time};

/// The weakened rule, if any.
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
    ReadBeforeDurable,
    CopyGoesOn,
    CopyOutlivesRelease,
    GapForgotten,
    GapSettledByRead,
    OutdatedReply,
    ReleasedBelowShared,
}

/// A weakened variant, with the smallest size at which it is known to break the guarantee.
pub struct Variant {
    pub name: &'static str,
    pub weak: Weak,
    pub size: Size,
    /// The minimum number of steps to a duplicate ID, or `None` for a harmless variant.
    pub caught: Option<usize>,
}

const fn row(name: &'static str, weak: Weak, size: Size, caught: usize) -> Variant {
    Variant { name, weak, size, caught: Some(caught) }
}

const fn harmless(name: &'static str, weak: Weak, size: Size) -> Variant {
    Variant { name, weak, size, caught: None }
}

const SIZE: Size = Size::SMALLEST;
const THREE_CLAIMS: Size = Size { claims: 3, ..SIZE };
const RENEWAL_SIZE: Size = Size { renewals: 1, ..SIZE };
pub const TWO_RENEWALS: Size = Size { renewals: 2, ticks: 3, ..SIZE };
const CRASH: Size = Size { crashes: 1, ..SIZE };
const STORE_CRASH: Size = Size { store_crashes: 1, ..SIZE };
const TWO_UNITS_PER_TICK: Size = Size { grain: 2, ..SIZE };
const TWO_WORKER_IDS: Size = Size { numbers: 2, claims: 3, ..SIZE };
const RESTORE: Size = Size { renewals: 0, ..Size::RESTORE };
const EXACT_SIZE: Size =
    Size { time: Time::Passing { error: 0, longest: 2, slack: 0, restores: 1 }, ..Size::RESTORE };
const EXACT_TIME: Time = Time::Passing { error: 0, longest: 3, slack: 0, restores: 0 };
const CLONED_HOLDER: Size = Size { clones: 1, claims: 1, renewals: 2, proofs: 1, ..SIZE };
pub const CLONED_CLAIM: Size = Size { clones: 1, claims: 1, proofs: 2, ..SIZE };
/// A process whose image is restored twice.
pub const RESTORED_TWICE: Size =
    Size { clones: 1, gaps: Gaps::InBoth, claims: 1, renewals: 2, proofs: 2, ..SIZE };
/// A process that continues alongside a copy of its image.
pub const COPIED: Size = Size { clones: 1, gaps: Gaps::InCopy, claims: 2, renewals: 2, ..SIZE };
const PROOF: Size = Size { proofs: 1, ..SIZE };
const CRASH_AND_PROOF: Size = Size { proofs: 1, ..CRASH };
const REPLICA: Size = Size::REPLICA;
/// A backup that is restored in place, and a promotion. The operator reports both.
const OPERATOR: Size = Size {
    renewals: 0,
    promotions: 1,
    operator: Operator { restored: 1, promoted: 1, dead: 0 },
    time: Time::Passing { error: 1, longest: 2, slack: 1, restores: 0 },
    ..Size::RESTORE
};
pub const EXACT_OPERATOR: Size =
    Size { time: Time::Passing { error: 0, longest: 2, slack: 0, restores: 0 }, ..OPERATOR };
const PROMOTION: Size =
    Size { operator: Operator { restored: 0, ..OPERATOR.operator }, ..OPERATOR };
/// A store that shows writes before they are durable, as `InnoDB` does without a binary log, and then loses them.
const VISIBLE_BEFORE_DURABLE: Size =
    Size { ticks: 3, renewals: 1, proofs: 1, crashes: 1, ..STORE_CRASH };
const HARMLESS_SIZE: Size = Size { ticks: 3, renewals: 1, crashes: 1, ..SIZE };

pub const VARIANTS: &[Variant] = &[
    row("a swap that does not compare the version", Weak::NoVersion, RENEWAL_SIZE, 11),
    row("a read followed by a separate write instead of a swap", Weak::ReadThenWrite, SIZE, 8),
    row("an inclusive end of a grant", Weak::InclusiveEnd, SIZE, 8),
    row("an expired time to live as proof that the holder is gone", Weak::TtlAsProof, SIZE, 8),
    row("a reply before the write is durable", Weak::ReplyBeforeDurable, STORE_CRASH, 9),
    row(
        "an end that is lowered before the generator is sealed",
        Weak::LoweredBeforeSealed,
        SIZE,
        10,
    ),
    row("an end that is lowered below a running batch", Weak::ReleaseBelowBatch, SIZE, 11),
    row("a release that uses a stale version", Weak::StaleRelease, THREE_CLAIMS, 13),
    row("the store's time as the start, instead of the maximum", Weak::NowForStart, SIZE, 8),
    row("a window that is extended before the reply", Weak::GrownBeforeAnswer, RENEWAL_SIZE, 9),
    row(
        "a reply to an earlier request that is accepted for this one",
        Weak::OlderAnswer,
        TWO_RENEWALS,
        13,
    ),
    row(
        "a late reply that reopens a sealed generator",
        Weak::ReopenedByLateAnswer,
        RENEWAL_SIZE,
        14,
    ),
    row(
        "a number that is leased again and keeps its old window",
        Weak::RetakenJoined,
        THREE_CLAIMS,
        13,
    ),
    row("a holder that continues in a forked child process", Weak::KeeperInChild, SIZE, 7),
    row(
        "a lost reply that is resolved by the holder's name",
        Weak::SettledByName,
        CRASH_AND_PROOF,
        9,
    ),
    row("two claims with the same token", Weak::EqualTokens, PROOF, 9),
    row("a token that is kept across a restart", Weak::TokenKept, CRASH_AND_PROOF, 9),
    row(
        "a snapshot that is restored in addition to a new grant",
        Weak::SnapshotBesideGrant,
        SIZE,
        11,
    ),
    row("a release that lowers the end to 0", Weak::ReleaseToZero, SIZE, 10),
    row(
        "a release that lowers the end to the latest tick instead of the highest",
        Weak::ReleaseToLatest,
        SIZE,
        11,
    ),
    row("IDs after a release without a reply", Weak::UsedAfterRelease, SIZE, 11),
    row("records that are deleted by their release", Weak::DeletedRecords, SIZE, 10),
    row("a lost record that is treated as free", Weak::LostRecords, SIZE, 9),
    row(
        "boundaries that are rounded in different directions",
        Weak::MixedRounding,
        TWO_UNITS_PER_TICK,
        8,
    ),
    row("a generator that changes its number in place", Weak::MovedInPlace, TWO_WORKER_IDS, 12),
    row("a record without the start of the grant", Weak::NoStart, SIZE, 8),
    row(
        "renewals of earlier grants in a restored store",
        Weak::RenewalsInQuietTime,
        Size::RESTORE,
        13,
    ),
    row("a restored store without a quiet time", Weak::NoQuietTime, RESTORE, 10),
    row("clock slack that extends into the quiet time", Weak::SlackIntoQuietTime, RESTORE, 12),
    row(
        "in a restored store, a swap that compares only the version",
        Weak::VersionAlone,
        RESTORE,
        10,
    ),
    row(
        "a quiet time that is based only on the ends of the grants",
        Weak::QuietByEndsAlone,
        RESTORE,
        11,
    ),
    row("a quiet time without the clock error", Weak::QuietWithoutClockError, RESTORE, 10),
    row(
        "in a restored store, a renewal beyond the end found there",
        Weak::RenewedPastEndFound,
        Size::RESTORE,
        13,
    ),
    row(
        "the same, within the clock error before that end",
        Weak::RenewedWithinClockError,
        Size::RESTORE,
        13,
    ),
    row(
        "a claim before the end of the last grant, and such a renewal",
        Weak::ClaimedBeforeEnd,
        EXACT_SIZE,
        13,
    ),
    row("a backup that is restored in place and not reported", Weak::RestoredInPlace, RESTORE, 10),
    row("a store that is deleted while holders are running", Weak::DeletedStore, SIZE, 9),
    row(
        "a renewal by a clone that is accepted as the holder's own",
        Weak::CloneTakenForItself,
        CLONED_HOLDER,
        12,
    ),
    row(
        "a claim that is confirmed by a read before a promotion",
        Weak::ClaimSettledByRead,
        REPLICA,
        12,
    ),
    row(
        "a renewal that is confirmed by a read before a promotion",
        Weak::RenewalSettledByRead,
        Size { renewals: 1, ..REPLICA },
        16,
    ),
    row(
        "a commit with a warning that is accepted as a reply",
        Weak::WarningTakenForAnswer,
        REPLICA,
        12,
    ),
    row(
        "a confirmed claim that is written with the next version",
        Weak::ProvedByNextVersion,
        CLONED_CLAIM,
        12,
    ),
    row("a promotion that ends any quiet time", Weak::PromotedEndsQuietTime, EXACT_OPERATOR, 12),
    row(
        "a promotion that is not checked against the record's names",
        Weak::PromotedUnchecked,
        EXACT_OPERATOR,
        12,
    ),
    row(
        "a restored backup that keeps the previous name in the record",
        Weak::RestoredKeepsNameBefore,
        EXACT_OPERATOR,
        12,
    ),
    row(
        "a promotion that lost a write but is reported as complete",
        Weak::PromotedAfterLoss,
        PROMOTION,
        11,
    ),
    row("a running holder that is declared dead", Weak::DeadYetAlive, Size::DEAD_HOLDERS, 10),
    row(
        "a dead holder's number that is freed without its token",
        Weak::DeadByNumber,
        Size { claims: 3, time: EXACT_TIME, ..Size::DEAD_HOLDERS },
        12,
    ),
    row(
        "a dead holder's number that is freed immediately",
        Weak::DeadWithoutClockError,
        Size::DEAD_HOLDERS,
        10,
    ),
    row(
        "a dead holder whose clock was ahead by more than the clock error",
        Weak::DeadWithClockAhead,
        Size::DEAD_HOLDERS,
        11,
    ),
    row(
        "a copy that continues after it found another copy's renewal",
        Weak::CopyGoesOn,
        RESTORED_TWICE,
        11,
    ),
    row(
        "a copy that continues after the original released the number",
        Weak::CopyOutlivesRelease,
        COPIED,
        13,
    ),
    row("a gap that is forgotten without a renewal", Weak::GapForgotten, RESTORED_TWICE, 6),
    row(
        "a gap that is settled by a read of an earlier write",
        Weak::GapSettledByRead,
        RESTORED_TWICE,
        9,
    ),
    row(
        "a reply to a write from before the gap that is accepted after it",
        Weak::OutdatedReply,
        RESTORED_TWICE,
        7,
    ),
    row(
        "a release below the end that another copy may have",
        Weak::ReleasedBelowShared,
        COPIED,
        14,
    ),
    harmless(
        "outside restored stores, a swap that compares only the version",
        Weak::VersionAlone,
        HARMLESS_SIZE,
    ),
    harmless("a renewal after the local seal", Weak::RenewalAfterSeal, HARMLESS_SIZE),
    harmless(
        "a lost renewal that is repeated with a new token",
        Weak::RenewalWithFreshToken,
        HARMLESS_SIZE,
    ),
    harmless("a release that compares only the token", Weak::ReleaseByToken, HARMLESS_SIZE),
    harmless(
        "a read of a record that is not durable yet",
        Weak::ReadBeforeDurable,
        VISIBLE_BEFORE_DURABLE,
    ),
];
