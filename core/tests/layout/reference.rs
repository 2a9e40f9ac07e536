//! A slow and simple reference implementation of packing and parsing. IDs are big integers, and fields are combined by
//! addition and extracted as remainders.

use num_bigint::{BigInt, Sign};
use polyflake::layout::{Field, Id, Layout, Tick, Value, ValueType};

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Timestamp { tick_us: u64, epoch_ms: i64 },
    Sequence,
    Constant(ReferenceValue),
    Bindable(ValueType),
    Unused,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldPlan {
    pub(crate) kind: Kind,
    pub(crate) bits: u32,
    pub(crate) invert: bool,
}

/// A value in the reference implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceValue {
    Integer(BigInt),
    Bytes(Vec<u8>),
    Text(String),
    /// A time in Unix nanoseconds. The reference implementation does not pack it.
    Nanos(i128),
}

/// The plan of a layout: an integer layout if `bytes` is `None`, and a byte layout otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) bytes: Option<usize>,
    pub(crate) fields: Vec<FieldPlan>,
}

pub(crate) type ErrorCode = &'static str;

pub(crate) fn power_of_two(bits: u32) -> BigInt {
    BigInt::from(1) << bits
}

impl ReferenceValue {
    pub(crate) fn value(&self) -> Value<'static> {
        match self {
            Self::Integer(n) => Value::parse_integer(&n.to_string()).unwrap_or(Value::Beyond),
            Self::Bytes(bytes) => bytes.clone().into(),
            Self::Text(text) => text.clone().into(),
            Self::Nanos(nanos) => Value::Nanos(*nanos),
        }
    }

    fn from_value(value: Value<'_>) -> Self {
        match value {
            Value::Integer(n) => Self::Integer(n.into()),
            Value::Wide(n) => Self::Integer(n.into()),
            Value::Bytes(bytes) => Self::Bytes(bytes.into_owned()),
            Value::Text(text) => Self::Text(text.into_owned()),
            other => panic!("{other:?}"),
        }
    }

    fn kind(&self) -> ValueType {
        match self {
            Self::Integer(_) | Self::Nanos(_) => ValueType::Integer,
            Self::Bytes(_) => ValueType::Bytes,
            Self::Text(_) => ValueType::Text,
        }
    }
}

impl FieldPlan {
    fn name(index: usize) -> String {
        format!("f{index}")
    }

    fn field(&self, index: usize) -> Field {
        let name = Self::name(index);
        let field = match &self.kind {
            Kind::Timestamp { tick_us, epoch_ms } => {
                Field::timestamp(self.bits, Tick::from_micros(*tick_us).unwrap(), *epoch_ms)
            }
            Kind::Sequence => Field::sequence(self.bits),
            Kind::Constant(given) => Field::constant(self.bits, &*name, given.value()),
            Kind::Bindable(kind) => Field::bindable_of(*kind, self.bits, &*name),
            Kind::Unused => Field::unused(self.bits),
        };
        if self.invert { field.inverted() } else { field }
    }

    /// Converts an integer to the field's bits. An integer `n` fits if 0 <= n < 2^bits. Fields of 64 or more bits also
    /// accept -2^63..=-1, which are encoded modulo 2^64.
    fn to_bits(&self, n: BigInt) -> Option<BigInt> {
        if n >= BigInt::ZERO {
            return (n < power_of_two(self.bits)).then_some(n);
        }
        (self.bits >= 64 && n >= -power_of_two(63)).then(|| n + power_of_two(64))
    }

    /// Converts the field's bits to an integer. In fields of 64 or more bits, values in 2^63..=2^64-1 are read as negative
    /// numbers.
    fn to_signed(&self, n: BigInt) -> BigInt {
        if self.bits >= 64 && n >= power_of_two(63) && n < power_of_two(64) {
            n - power_of_two(64)
        } else {
            n
        }
    }

    fn encode_value(&self, given: &ReferenceValue) -> Result<BigInt, ErrorCode> {
        let kind = match &self.kind {
            Kind::Bindable(kind) => *kind,
            Kind::Constant(own) => own.kind(),
            _ => ValueType::Integer,
        };
        if given.kind() != kind {
            return Err("invalid_type");
        }
        let bytes = match given {
            ReferenceValue::Integer(n) => {
                let Kind::Timestamp { tick_us, epoch_ms } = self.kind else {
                    return self.to_bits(n.clone()).ok_or("out_of_range");
                };
                let ticks = floor_div(&(n * 1000), tick_us)
                    - floor_div(&(BigInt::from(epoch_ms) * 1000), tick_us);
                let within = *n >= i64::MIN.into() && *n <= i64::MAX.into();
                return self.to_bits(ticks).filter(|_| within).ok_or("time_out_of_range");
            }
            ReferenceValue::Bytes(bytes) => bytes.as_slice(),
            ReferenceValue::Text(text) => text.as_bytes(),
            ReferenceValue::Nanos(_) => return Err("invalid_type"),
        };
        self.to_bits(BigInt::from_bytes_be(Sign::Plus, bytes)).ok_or("out_of_range")
    }

    /// Reads the value of this field from an ID.
    fn decode_value(&self, n: BigInt) -> Result<Option<ReferenceValue>, ErrorCode> {
        let n = if self.invert { power_of_two(self.bits) - 1 - n } else { n };
        let kind = match &self.kind {
            Kind::Unused => return Ok(None),
            Kind::Timestamp { tick_us, epoch_ms } => {
                let ticks =
                    self.to_signed(n) + floor_div(&(BigInt::from(*epoch_ms) * 1000), *tick_us);
                let ms = floor_div(&(ticks * *tick_us), 1000);
                let within = ms >= i64::MIN.into() && ms <= i64::MAX.into();
                return if within {
                    Ok(Some(ReferenceValue::Integer(ms)))
                } else {
                    Err("time_out_of_range")
                };
            }
            Kind::Sequence => ValueType::Integer,
            Kind::Constant(own) => own.kind(),
            Kind::Bindable(kind) => *kind,
        };
        let bytes = if n == BigInt::ZERO { Vec::new() } else { n.to_bytes_be().1 };
        Ok(Some(match kind {
            ValueType::Integer => ReferenceValue::Integer(self.to_signed(n)),
            ValueType::Bytes => ReferenceValue::Bytes(bytes),
            ValueType::Text => {
                ReferenceValue::Text(String::from_utf8(bytes).map_err(|_| "invalid_character")?)
            }
            other => unreachable!("{other:?}"),
        }))
    }
}

fn floor_div(n: &BigInt, by: u64) -> BigInt {
    let (quotient, rest) = (n / by, n % by);
    if rest < BigInt::ZERO { quotient - 1 } else { quotient }
}

impl Plan {
    pub(crate) fn layout(&self) -> polyflake::Result<Layout> {
        let fields = self.fields.iter().enumerate().map(|(index, field)| field.field(index));
        match self.bytes {
            None => Layout::integer(fields),
            Some(length) => Layout::bytes(length, fields),
        }
    }

    pub(crate) fn bits(&self) -> u32 {
        self.bytes.map_or(64, |length| u32::try_from(length * 8).unwrap())
    }

    /// Packs the fields' values into an ID, or returns the error of the topmost invalid field.
    pub(crate) fn pack(&self, given: &[Option<ReferenceValue>]) -> Result<BigInt, ErrorCode> {
        self.fields.iter().zip(given).try_fold(BigInt::ZERO, |id, (field, given)| {
            let number = match (&field.kind, given) {
                (Kind::Unused, _) => return Ok(id << field.bits),
                (_, Some(given)) => field.encode_value(given)?,
                (Kind::Constant(own), None) => field.encode_value(own)?,
                (_, None) => return Err("missing_field"),
            };
            let number = if field.invert { power_of_two(field.bits) - 1 - number } else { number };
            Ok((id << field.bits) + number)
        })
    }

    /// Parses an ID into the fields' values, or returns the error of the topmost invalid field.
    pub(crate) fn parse(&self, id: &BigInt) -> Result<Vec<Option<ReferenceValue>>, ErrorCode> {
        let mut below = self.bits();
        let read = |field: &FieldPlan| {
            below -= field.bits;
            field.decode_value((id >> below) % power_of_two(field.bits))
        };
        self.fields.iter().map(read).collect()
    }

    /// Converts the integer to an ID of the layout.
    pub(crate) fn id(&self, id: &BigInt) -> Id {
        let bytes = id.to_bytes_be().1;
        let length = self.bits() as usize / 8;
        let mut full = vec![0; length];
        full[length - bytes.len().min(length)..]
            .copy_from_slice(&bytes[bytes.len().saturating_sub(length)..]);
        match self.bytes {
            None => Id::Integer(i64::from_be_bytes(full.try_into().unwrap())),
            Some(_) => Id::Bytes(full),
        }
    }

    /// Packs an ID with the layout under test.
    pub(crate) fn pack_with(
        &self,
        layout: &Layout,
        given: &[Option<ReferenceValue>],
    ) -> polyflake::Result<Id> {
        let mut values = layout.values();
        for (index, (field, given)) in self.fields.iter().zip(given).enumerate() {
            let (Some(given), name) = (given, FieldPlan::name(index)) else { continue };
            match field.kind {
                Kind::Timestamp { .. } => values.time(given.value())?,
                Kind::Sequence => values.sequence(given.value())?,
                Kind::Constant(_) => values.constant(&name, given.value())?,
                Kind::Bindable(_) => values.bind(&name, given.value())?,
                Kind::Unused => continue,
            };
        }
        values.pack()
    }

    /// Parses an ID's values with the layout under test.
    pub(crate) fn parse_with(
        &self,
        layout: &Layout,
        id: &Id,
    ) -> polyflake::Result<Vec<Option<ReferenceValue>>> {
        let parsed = layout.parse(id)?;
        let read = |(index, field): (usize, &FieldPlan)| {
            let name = FieldPlan::name(index);
            let value = match field.kind {
                Kind::Timestamp { .. } => Value::from(parsed.unix_ms().unwrap()),
                Kind::Sequence => Value::Integer(parsed.sequence().unwrap()),
                Kind::Constant(_) => parsed.constant(&name)?,
                Kind::Bindable(_) => parsed.bindable(&name)?,
                Kind::Unused => return Ok(None),
            };
            Ok(Some(ReferenceValue::from_value(value)))
        };
        self.fields.iter().enumerate().map(read).collect()
    }
}
