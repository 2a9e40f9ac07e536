//! Public IDs: secrets, types, and the texts of numbers.

use core::{marker::PhantomData, str};

use polyflake::{
    Result,
    public::{IdType, Keyring, MOST_NAME, SECRET_BYTES, TAIL},
};

use crate::{
    At, Host, Machine,
    handles::Object,
    protocol::{BATCH, BYTES, slot},
};

/// The number of bytes in a secret and its version.
const VERSIONED: usize = 1 + SECRET_BYTES;

/// The width of the largest integers that JavaScript represents as floats.
const FLOAT_BITS: u32 = 53;

/// A type, and whether its numbers are floats in JavaScript rather than integers of 64 bits.
#[derive(Debug)]
pub(crate) struct PublicType<C> {
    ids: IdType,
    is_float: bool,
    /// If a machine supports only public IDs, no object has a clock.
    clock: PhantomData<C>,
}

impl<C> PublicType<C> {
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and positive"
    )]
    fn number(&self, slot: u64) -> u64 {
        if self.is_float { f64::from_bits(slot) as u64 } else { slot }
    }

    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "at most 53 bits")]
    const fn slot(&self, number: u64) -> u64 {
        if self.is_float { (number as f64).to_bits() } else { number }
    }

    /// Returns the length of a text.
    fn width(&self) -> usize {
        self.ids.name().len() + 1 + TAIL
    }
}

/// Calls of secrets and types. The package checks names, numbers and texts before it makes a call.
impl<C: Host> Machine<C> {
    /// Takes a count of secrets; the secrets, each after its version; and the version to write. Erases the secrets, and writes
    /// a handle.
    pub fn public_build(&self, at: At) -> Result<()> {
        let places = (0..at.count(slot::MANY_COUNT)).map(|index| index * VERSIONED);
        let secret = |place| {
            let [version] = at.chunk(place);
            (version, at.chunk::<SECRET_BYTES>(place + 1))
        };
        let [written] = at.chunk(at.count(slot::MANY_COUNT) * VERSIONED);
        let ids =
            Keyring::with_versions(places.clone().map(secret)).and_then(|ids| ids.write(written));
        for place in places {
            at.put_bytes(place, &[0; VERSIONED]);
        }
        self.put_object(at, Object::PublicIds(ids?));
        Ok(())
    }

    /// Takes a handle of secrets, a number of bits, and a name with its length. Writes a handle.
    pub fn public_type_build(&self, at: At) -> Result<()> {
        let (object, name) = (self.object(at)?, at.chunk::<MOST_NAME>(0));
        let name = str::from_utf8(&name[..at.count(slot::MANY_COUNT).min(MOST_NAME)]);
        let bits = at.bits(slot::PUBLIC_BITS, "bits", 32)?;
        let ids = object.public_ids()?.of_bits(name.unwrap_or_default(), bits)?;
        let of = PublicType { ids, is_float: bits <= FLOAT_BITS, clock: PhantomData };
        self.put_object(at, Object::PublicType(of));
        Ok(())
    }

    /// Takes a number. Writes the length of a text, and the text.
    #[inline]
    pub fn public_encode(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        let of = object.public_type()?;
        let tail = of.ids.encode_tail(of.number(at.raw(slot::PUBLIC_NUMBER)))?;
        let name = at.put_bytes(0, of.ids.name().as_bytes());
        at.put_bytes(name, b"_");
        at.put_bytes(name + 1, &tail);
        at.put_length(name + 1 + TAIL);
        Ok(())
    }

    /// Takes the end of a text, after the type and its `_`. Writes the text's number.
    #[inline]
    pub fn public_decode(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        let of = object.public_type()?;
        let number = of.ids.decode_tail(&at.chunk::<TAIL>(0))?;
        at.put_made(of.slot(number).cast_signed());
        Ok(())
    }

    /// Takes a count of numbers, at most as many as there is space for texts, and the numbers. Writes their texts one after the
    /// other.
    pub fn public_encode_many(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        let (of, mut numbers) = (object.public_type()?, [0; BATCH]);
        let numbers = &mut numbers[..at.count(slot::MANY_COUNT)];
        for (index, number) in numbers.iter_mut().enumerate() {
            *number = of.number(u64::from_ne_bytes(at.chunk(index * 8)));
        }
        let mut from = 0;
        of.ids.encode_many(numbers, |text| from += at.put_bytes(from, text.as_bytes()))
    }

    /// Takes a count of texts, and the texts one after the other. Writes their numbers.
    pub fn public_decode_many(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        let (of, mut texts) = (object.public_type()?, [0; BYTES]);
        at.get_bytes(0, &mut texts);
        let texts = texts.chunks(of.width()).take(at.count(slot::MANY_COUNT));
        let numbers =
            of.ids.decode_many(texts.map(|text| str::from_utf8(text).unwrap_or_default()))?;
        for (index, number) in numbers.into_iter().enumerate() {
            at.put_bytes(index * 8, &of.slot(number).to_ne_bytes());
        }
        Ok(())
    }
}
