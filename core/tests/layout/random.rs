//! Tests random layouts against the big-integer reference implementation.

use num_bigint::{BigInt, Sign};
use polyflake::layout::{Layout, ValueType};
use proptest::prelude::*;

use crate::reference::{FieldPlan, Kind, Plan, ReferenceValue, power_of_two};

/// The random numbers that determine a field.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    kind: u8,
    bits: u32,
    invert: bool,
    value_type: u8,
    tick_us: u64,
    epoch_ms: i64,
    seed: Vec<u8>,
}

pub(crate) fn arb_draws() -> impl Strategy<Value = Vec<Draw>> {
    let bits = prop_oneof![Just(0), Just(1), 0..20_u32, 56..72_u32, 0..200_u32];
    let tick = prop_oneof![
        Just(1),
        Just(250),
        Just(1000),
        Just(10_000),
        Just(1_000_000),
        1..5_000_000_u64
    ];
    let epoch = prop_oneof![
        Just(0),
        Just(1_483_228_800_500),
        -2_000_000_000_000..2_000_000_000_000_i64,
        any::<i64>()
    ];
    let seed = proptest::collection::vec(any::<u8>(), 1..40);
    let one = (0..9_u8, bits, any::<bool>(), 0..3_u8, tick, epoch, seed);
    let draw = one.prop_map(|(kind, bits, invert, value_type, tick_us, epoch_ms, seed)| Draw {
        kind,
        bits,
        invert,
        value_type,
        tick_us,
        epoch_ms,
        seed,
    });
    proptest::collection::vec(draw, 1..24)
}

/// Returns a plan whose fields fill the whole ID. The bits that the randomly chosen fields do not use become a bindable
/// field.
pub(crate) fn plan(bytes: Option<usize>, draws: &[Draw]) -> Plan {
    let mut plan = Plan { bytes, fields: Vec::new() };
    let mut left = plan.bits();
    let (mut has_time, mut has_sequence) = (false, false);
    for draw in draws {
        let kind = match draw.kind {
            0 | 1 if !has_time => {
                has_time = true;
                Kind::Timestamp { tick_us: draw.tick_us, epoch_ms: draw.epoch_ms }
            }
            2 if !has_sequence => {
                has_sequence = true;
                Kind::Sequence
            }
            3 | 4 => Kind::Constant(valid_value(
                value_type(bytes, draw),
                draw.bits.min(left),
                &draw.seed,
            )),
            5 => Kind::Unused,
            _ => Kind::Bindable(value_type(bytes, draw)),
        };
        let most = match kind {
            Kind::Timestamp { .. } | Kind::Sequence => 64,
            _ => left,
        };
        let field = FieldPlan { kind, bits: draw.bits.min(most).min(left), invert: draw.invert };
        left -= field.bits;
        plan.fields.push(field);
    }
    let rest = if left > MAX_BITS { ValueType::Bytes } else { ValueType::Integer };
    plan.fields.push(FieldPlan { kind: Kind::Bindable(rest), bits: left, invert: false });
    plan
}

/// The width of the widest integer, in bits.
const MAX_BITS: u32 = 128;

fn value_type(bytes: Option<usize>, draw: &Draw) -> ValueType {
    match (bytes, draw.value_type) {
        (Some(_), 1) => ValueType::Bytes,
        (Some(_), 2) => ValueType::Text,
        (Some(_), _) if draw.bits > MAX_BITS => ValueType::Bytes,
        _ => ValueType::Integer,
    }
}

/// Returns a value that fits into the field.
fn valid_value(kind: ValueType, bits: u32, seed: &[u8]) -> ReferenceValue {
    let number = BigInt::from_bytes_be(Sign::Plus, seed) % power_of_two(bits);
    match kind {
        ValueType::Integer => ReferenceValue::Integer(number),
        ValueType::Bytes => ReferenceValue::Bytes(number.to_bytes_be().1),
        ValueType::Text => ReferenceValue::Text(
            seed.iter().take(bits as usize / 8).map(|byte| char::from(byte % 128)).collect(),
        ),
        other => unreachable!("{other:?}"),
    }
}

/// Returns a value that may be missing, of the wrong type, or too large.
fn any_value(field: &FieldPlan, seed: &[u8]) -> Option<ReferenceValue> {
    let (first, rest) = (seed[0], &seed[1..]);
    let kind = match (&field.kind, first % 16) {
        (_, 0) => return None,
        (_, 1) | (Kind::Constant(ReferenceValue::Bytes(_)), _) => ValueType::Bytes,
        (_, 2) | (Kind::Constant(ReferenceValue::Text(_)), _) => ValueType::Text,
        (Kind::Bindable(kind), _) => *kind,
        _ => ValueType::Integer,
    };
    let (ValueType::Integer, Kind::Timestamp { tick_us, epoch_ms }) = (kind, &field.kind) else {
        return Some(value_near_limit(kind, field.bits, first, rest));
    };
    let ReferenceValue::Integer(ticks) = value_near_limit(kind, field.bits, first, rest) else {
        return None;
    };
    Some(ReferenceValue::Integer(BigInt::from(*epoch_ms) + ticks * *tick_us / 1000))
}

fn value_near_limit(kind: ValueType, bits: u32, first: u8, seed: &[u8]) -> ReferenceValue {
    let edges = [
        power_of_two(bits),
        power_of_two(bits) - 1,
        BigInt::from(-1),
        -power_of_two(63),
        -power_of_two(63) - 1,
        power_of_two(63),
        BigInt::ZERO,
        -power_of_two(200),
    ];
    match (kind, first) {
        (ValueType::Integer, 0..128) => {
            ReferenceValue::Integer(edges[usize::from(first / 16)].clone())
        }
        (ValueType::Bytes, 0..64) => ReferenceValue::Bytes([&[0, 0], seed].concat()),
        (ValueType::Text, 0..32) => {
            ReferenceValue::Text(String::from_utf8_lossy(seed).into_owned())
        }
        _ => valid_value(kind, bits, seed),
    }
}

fn arb_seeds() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..135), 25)
}

pub(crate) fn arb_length() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(None), (1..=128_usize).prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 2000 }))]

    #[test]
    fn packing_matches_the_reference(bytes in arb_length(), draws in arb_draws(), seeds in arb_seeds()) {
        let plan = plan(bytes, &draws);
        let layout = plan.layout().unwrap();
        let given: Vec<_> = plan.fields.iter().zip(&seeds).map(|(field, seed)| any_value(field, seed)).collect();
        let packed = plan.pack_with(&layout, &given);
        match plan.pack(&given) {
            Err(code) => prop_assert_eq!(packed.unwrap_err().code(), code),
            Ok(id) => prop_assert_eq!(packed.unwrap(), plan.id(&id)),
        }
    }

    #[test]
    fn valid_values_round_trip(bytes in arb_length(), draws in arb_draws(), seeds in arb_seeds()) {
        let plan = plan(bytes, &draws);
        let layout = plan.layout().unwrap();
        let fit = |(field, seed): (&FieldPlan, &Vec<u8>)| match &field.kind {
            Kind::Unused => None,
            Kind::Bindable(kind) => Some(valid_value(*kind, field.bits, seed)),
            Kind::Constant(own) => Some(own.clone()),
            Kind::Sequence => Some(valid_value(ValueType::Integer, field.bits, seed)),
            Kind::Timestamp { epoch_ms, .. } => Some(ReferenceValue::Integer((*epoch_ms).into())),
        };
        let given: Vec<_> = plan.fields.iter().zip(&seeds).map(fit).collect();
        let id = plan.pack_with(&layout, &given).unwrap();
        prop_assert_eq!(&id, &plan.id(&plan.pack(&given).unwrap()));
        // An extreme epoch, rounded down to a whole tick, may be too early for 64-bit milliseconds. Parsing then fails.
        if let Ok(parsed) = layout.parse(&id) {
            let in_nanos = |(index, given): (usize, Option<ReferenceValue>)| match plan.fields[index].kind {
                Kind::Timestamp { .. } => parsed.unix_nanos().map(ReferenceValue::Nanos),
                _ => given,
            };
            let again: Vec<_> = plan.parse_with(&layout, &id).unwrap().into_iter().enumerate().map(in_nanos).collect();
            prop_assert_eq!(plan.pack_with(&layout, &again), Ok(id.clone()));
        }
    }

    #[test]
    fn parsing_matches_the_reference(bytes in arb_length(), draws in arb_draws(), id in proptest::collection::vec(any::<u8>(), 128)) {
        let plan = plan(bytes, &draws);
        let layout = plan.layout().unwrap();
        let id = BigInt::from_bytes_be(Sign::Plus, &id) % power_of_two(plan.bits());
        let parsed = plan.parse_with(&layout, &plan.id(&id));
        match plan.parse(&id) {
            Err(code) => prop_assert_eq!(parsed.unwrap_err().code(), code),
            Ok(values) => prop_assert_eq!(parsed.unwrap(), values),
        }
    }

    #[test]
    fn descriptions_round_trip(bytes in arb_length(), draws in arb_draws()) {
        let layout = plan(bytes, &draws).layout().unwrap();
        prop_assert_eq!(Layout::from_json(&layout.to_json()), Ok(layout));
    }
}
