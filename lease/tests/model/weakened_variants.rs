//! The weakened variants of the protocol. Each row names the omitted rule and the number of steps after which the search
//! detects the omission.

use crate::protocol::{Gaps, Operator, Size, Time};

/// The weakened rule, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakenedRule {
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
    pub weak: WeakenedRule,
    pub size: Size,
    /// The minimum number of steps to a duplicate ID, or `None` for a harmless variant.
    pub caught: Option<usize>,
}

const fn caught_variant(
    name: &'static str,
    weak: WeakenedRule,
    size: Size,
    caught: usize,
) -> Variant {
    Variant { name, weak, size, caught: Some(caught) }
}

const fn harmless_variant(name: &'static str, weak: WeakenedRule, size: Size) -> Variant {
    Variant { name, weak, size, caught: None }
}

const BASE_SIZE: Size = Size::SMALLEST;
const THREE_CLAIMS: Size = Size { claims: 3, ..BASE_SIZE };
const RENEWAL_SIZE: Size = Size { renewals: 1, ..BASE_SIZE };
pub const TWO_RENEWALS: Size = Size { renewals: 2, ticks: 3, ..BASE_SIZE };
const CRASH: Size = Size { crashes: 1, ..BASE_SIZE };
const STORE_CRASH: Size = Size { store_crashes: 1, ..BASE_SIZE };
const TWO_UNITS_PER_TICK: Size = Size { grain: 2, ..BASE_SIZE };
const TWO_WORKER_IDS: Size = Size { numbers: 2, claims: 3, ..BASE_SIZE };
const RESTORE: Size = Size { renewals: 0, ..Size::RESTORE };
const EXACT_SIZE: Size =
    Size { time: Time::Passing { error: 0, longest: 2, slack: 0, restores: 1 }, ..Size::RESTORE };
const EXACT_TIME: Time = Time::Passing { error: 0, longest: 3, slack: 0, restores: 0 };
const CLONED_HOLDER: Size = Size { clones: 1, claims: 1, renewals: 2, proofs: 1, ..BASE_SIZE };
pub const CLONED_CLAIM: Size = Size { clones: 1, claims: 1, proofs: 2, ..BASE_SIZE };
/// A process whose image is restored twice.
pub const RESTORED_TWICE: Size =
    Size { clones: 1, gaps: Gaps::InBoth, claims: 1, renewals: 2, proofs: 2, ..BASE_SIZE };
/// A process that continues to run while a restored copy of it also runs.
pub const COPIED_HOLDER: Size =
    Size { clones: 1, gaps: Gaps::InCopy, claims: 2, renewals: 2, ..BASE_SIZE };
const PROOF: Size = Size { proofs: 1, ..BASE_SIZE };
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
const HARMLESS_SIZE: Size = Size { ticks: 3, renewals: 1, crashes: 1, ..BASE_SIZE };

pub const VARIANTS: &[Variant] = &[
    caught_variant(
        "a swap that does not compare the version",
        WeakenedRule::NoVersion,
        RENEWAL_SIZE,
        11,
    ),
    caught_variant(
        "a read followed by a separate write instead of a swap",
        WeakenedRule::ReadThenWrite,
        BASE_SIZE,
        8,
    ),
    caught_variant("an inclusive end of a grant", WeakenedRule::InclusiveEnd, BASE_SIZE, 8),
    caught_variant(
        "an expired time to live as proof that the holder is gone",
        WeakenedRule::TtlAsProof,
        BASE_SIZE,
        8,
    ),
    caught_variant(
        "a reply before the write is durable",
        WeakenedRule::ReplyBeforeDurable,
        STORE_CRASH,
        9,
    ),
    caught_variant(
        "an end that is lowered before the generator is sealed",
        WeakenedRule::LoweredBeforeSealed,
        BASE_SIZE,
        10,
    ),
    caught_variant(
        "an end that is lowered below a running batch",
        WeakenedRule::ReleaseBelowBatch,
        BASE_SIZE,
        11,
    ),
    caught_variant(
        "a release that uses a stale version",
        WeakenedRule::StaleRelease,
        THREE_CLAIMS,
        13,
    ),
    caught_variant(
        "the store's time as the start, instead of the maximum",
        WeakenedRule::NowForStart,
        BASE_SIZE,
        8,
    ),
    caught_variant(
        "a window that is extended before the reply",
        WeakenedRule::GrownBeforeAnswer,
        RENEWAL_SIZE,
        9,
    ),
    caught_variant(
        "a reply to an earlier request that is accepted for this one",
        WeakenedRule::OlderAnswer,
        TWO_RENEWALS,
        13,
    ),
    caught_variant(
        "a late reply that reopens a sealed generator",
        WeakenedRule::ReopenedByLateAnswer,
        RENEWAL_SIZE,
        14,
    ),
    caught_variant(
        "a number that is leased again and keeps its old window",
        WeakenedRule::RetakenJoined,
        THREE_CLAIMS,
        13,
    ),
    caught_variant(
        "a holder that continues in a forked child process",
        WeakenedRule::KeeperInChild,
        BASE_SIZE,
        7,
    ),
    caught_variant(
        "a lost reply that is resolved by the holder's name",
        WeakenedRule::SettledByName,
        CRASH_AND_PROOF,
        9,
    ),
    caught_variant("two claims with the same token", WeakenedRule::EqualTokens, PROOF, 9),
    caught_variant(
        "a token that is kept across a restart",
        WeakenedRule::TokenKept,
        CRASH_AND_PROOF,
        9,
    ),
    caught_variant(
        "a snapshot that is restored in addition to a new grant",
        WeakenedRule::SnapshotBesideGrant,
        BASE_SIZE,
        11,
    ),
    caught_variant(
        "a release that lowers the end to 0",
        WeakenedRule::ReleaseToZero,
        BASE_SIZE,
        10,
    ),
    caught_variant(
        "a release that lowers the end to the latest tick instead of the highest",
        WeakenedRule::ReleaseToLatest,
        BASE_SIZE,
        11,
    ),
    caught_variant(
        "IDs after a release without a reply",
        WeakenedRule::UsedAfterRelease,
        BASE_SIZE,
        11,
    ),
    caught_variant(
        "records that are deleted by their release",
        WeakenedRule::DeletedRecords,
        BASE_SIZE,
        10,
    ),
    caught_variant(
        "a lost record that is treated as free",
        WeakenedRule::LostRecords,
        BASE_SIZE,
        9,
    ),
    caught_variant(
        "boundaries that are rounded in different directions",
        WeakenedRule::MixedRounding,
        TWO_UNITS_PER_TICK,
        8,
    ),
    caught_variant(
        "a generator that changes its number in place",
        WeakenedRule::MovedInPlace,
        TWO_WORKER_IDS,
        12,
    ),
    caught_variant("a record without the start of the grant", WeakenedRule::NoStart, BASE_SIZE, 8),
    caught_variant(
        "renewals of earlier grants in a restored store",
        WeakenedRule::RenewalsInQuietTime,
        Size::RESTORE,
        13,
    ),
    caught_variant("a restored store without a quiet time", WeakenedRule::NoQuietTime, RESTORE, 10),
    caught_variant(
        "clock slack that extends into the quiet time",
        WeakenedRule::SlackIntoQuietTime,
        RESTORE,
        12,
    ),
    caught_variant(
        "in a restored store, a swap that compares only the version",
        WeakenedRule::VersionAlone,
        RESTORE,
        10,
    ),
    caught_variant(
        "a quiet time that is based only on the ends of the grants",
        WeakenedRule::QuietByEndsAlone,
        RESTORE,
        11,
    ),
    caught_variant(
        "a quiet time without the clock error",
        WeakenedRule::QuietWithoutClockError,
        RESTORE,
        10,
    ),
    caught_variant(
        "in a restored store, a renewal beyond the end found there",
        WeakenedRule::RenewedPastEndFound,
        Size::RESTORE,
        13,
    ),
    caught_variant(
        "the same, within the clock error before that end",
        WeakenedRule::RenewedWithinClockError,
        Size::RESTORE,
        13,
    ),
    caught_variant(
        "a claim before the end of the last grant, and such a renewal",
        WeakenedRule::ClaimedBeforeEnd,
        EXACT_SIZE,
        13,
    ),
    caught_variant(
        "a backup that is restored in place and not reported",
        WeakenedRule::RestoredInPlace,
        RESTORE,
        10,
    ),
    caught_variant(
        "a store that is deleted while holders are running",
        WeakenedRule::DeletedStore,
        BASE_SIZE,
        9,
    ),
    caught_variant(
        "a renewal by a clone that is accepted as the holder's own",
        WeakenedRule::CloneTakenForItself,
        CLONED_HOLDER,
        12,
    ),
    caught_variant(
        "a claim that is confirmed by a read before a promotion",
        WeakenedRule::ClaimSettledByRead,
        REPLICA,
        12,
    ),
    caught_variant(
        "a renewal that is confirmed by a read before a promotion",
        WeakenedRule::RenewalSettledByRead,
        Size { renewals: 1, ..REPLICA },
        16,
    ),
    caught_variant(
        "a commit with a warning that is accepted as a reply",
        WeakenedRule::WarningTakenForAnswer,
        REPLICA,
        12,
    ),
    caught_variant(
        "a confirmed claim that is written with the next version",
        WeakenedRule::ProvedByNextVersion,
        CLONED_CLAIM,
        12,
    ),
    caught_variant(
        "a promotion that ends any quiet time",
        WeakenedRule::PromotedEndsQuietTime,
        EXACT_OPERATOR,
        12,
    ),
    caught_variant(
        "a promotion that is not checked against the record's names",
        WeakenedRule::PromotedUnchecked,
        EXACT_OPERATOR,
        12,
    ),
    caught_variant(
        "a restored backup that keeps the previous name in the record",
        WeakenedRule::RestoredKeepsNameBefore,
        EXACT_OPERATOR,
        12,
    ),
    caught_variant(
        "a promotion that lost a write but is reported as complete",
        WeakenedRule::PromotedAfterLoss,
        PROMOTION,
        11,
    ),
    caught_variant(
        "a running holder that is declared dead",
        WeakenedRule::DeadYetAlive,
        Size::DEAD_HOLDERS,
        10,
    ),
    caught_variant(
        "a dead holder's number that is freed without its token",
        WeakenedRule::DeadByNumber,
        Size { claims: 3, time: EXACT_TIME, ..Size::DEAD_HOLDERS },
        12,
    ),
    caught_variant(
        "a dead holder's number that is freed immediately",
        WeakenedRule::DeadWithoutClockError,
        Size::DEAD_HOLDERS,
        10,
    ),
    caught_variant(
        "a dead holder whose clock was ahead by more than the clock error",
        WeakenedRule::DeadWithClockAhead,
        Size::DEAD_HOLDERS,
        11,
    ),
    caught_variant(
        "a copy that continues after it found another copy's renewal",
        WeakenedRule::CopyGoesOn,
        RESTORED_TWICE,
        11,
    ),
    caught_variant(
        "a copy that continues after the original released the number",
        WeakenedRule::CopyOutlivesRelease,
        COPIED_HOLDER,
        13,
    ),
    caught_variant(
        "a gap that is forgotten without a renewal",
        WeakenedRule::GapForgotten,
        RESTORED_TWICE,
        6,
    ),
    caught_variant(
        "a gap that is settled by a read of an earlier write",
        WeakenedRule::GapSettledByRead,
        RESTORED_TWICE,
        9,
    ),
    caught_variant(
        "a reply to a write from before the gap that is accepted after it",
        WeakenedRule::OutdatedReply,
        RESTORED_TWICE,
        7,
    ),
    caught_variant(
        "a release below the end that another copy may have",
        WeakenedRule::ReleasedBelowShared,
        COPIED_HOLDER,
        14,
    ),
    harmless_variant(
        "outside restored stores, a swap that compares only the version",
        WeakenedRule::VersionAlone,
        HARMLESS_SIZE,
    ),
    harmless_variant(
        "a renewal after the local seal",
        WeakenedRule::RenewalAfterSeal,
        HARMLESS_SIZE,
    ),
    harmless_variant(
        "a lost renewal that is repeated with a new token",
        WeakenedRule::RenewalWithFreshToken,
        HARMLESS_SIZE,
    ),
    harmless_variant(
        "a release that compares only the token",
        WeakenedRule::ReleaseByToken,
        HARMLESS_SIZE,
    ),
    harmless_variant(
        "a read of a record that is not durable yet",
        WeakenedRule::ReadBeforeDurable,
        VISIBLE_BEFORE_DURABLE,
    ),
];
