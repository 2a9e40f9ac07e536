//! Public IDs: secrets, types, and the strings that represent numbers.

use core::{marker::PhantomData, str};

use polyflake::{
    Result,
    public::{IdType, Keyring, MAX_NAME_LEN, SECRET_BYTES, TAIL_LEN},
};

use crate::{
    Host, Machine, ScratchRef, floats,
    handles::Object,
    protocol::{BATCH, BYTES, register},
};

/// The number of bytes in a secret and its version.
const VERSIONED_SECRET_BYTES: usize = 1 + SECRET_BYTES;

/// The number of bits in the largest integers that JavaScript represents exactly as floats.
const FLOAT_BITS: u32 = 53;

/// A type of public IDs, and whether JavaScript represents its numbers as floats instead of 64-bit integers.
#[derive(Debug)]
pub(crate) struct PublicType<C> {
    ids: IdType,
    is_float: bool,
    /// Marks the type parameter `C` as used, because no object has a clock in a backend that supports only public IDs.
    clock: PhantomData<C>,
}

impl<C> PublicType<C> {
    #[inline]
    fn number(&self, slot: u64) -> u64 {
        if self.is_float { floats::to_u64(f64::from_bits(slot)) } else { slot }
    }

    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "at most 53 bits")]
    const fn slot(&self, number: u64) -> u64 {
        if self.is_float { (number as f64).to_bits() } else { number }
    }

    /// Returns the length of the strings of this type.
    fn width(&self) -> usize {
        self.ids.name().len() + 1 + TAIL_LEN
    }
}

/// Operations on secrets and types. The package checks names, numbers and strings before each operation.
impl<C: Host> Machine<C> {
    /// Reads the number of secrets, then each version followed by its secret, and finally the version that new strings use.
    /// Erases the secrets from the scratch area, and writes a handle.
    pub fn public_build(&self, at: ScratchRef) -> Result<()> {
        let places = (0..at.count()).map(|index| index * VERSIONED_SECRET_BYTES);
        let secret = |place| {
            let [version] = at.chunk(place);
            (version, at.chunk::<SECRET_BYTES>(place + 1))
        };
        let [written] = at.chunk(at.count() * VERSIONED_SECRET_BYTES);
        let ids =
            Keyring::with_versions(places.clone().map(secret)).and_then(|ids| ids.write(written));
        for place in places {
            at.put_bytes(place, &[0; VERSIONED_SECRET_BYTES]);
        }
        self.put_object(at, Object::PublicIds(ids?));
        Ok(())
    }

    /// Reads the handle of a set of secrets, a number of bits, and a name with its length. Writes a handle.
    pub fn public_type_build(&self, at: ScratchRef) -> Result<()> {
        let (object, name) = (self.object(at)?, at.chunk::<MAX_NAME_LEN>(0));
        let name = str::from_utf8(&name[..at.count().min(MAX_NAME_LEN)]);
        let bits = at.checked_bits(register::VALUE, "bits", 32)?;
        let ids = object.public_ids()?.of_bits(name.unwrap_or_default(), bits)?;
        let of = PublicType { ids, is_float: bits <= FLOAT_BITS, clock: PhantomData };
        self.put_object(at, Object::PublicType(of));
        Ok(())
    }

    /// Reads a number. Writes its string and the string's length.
    #[inline]
    pub fn public_encode(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let of = object.public_type()?;
        let tail = of.ids.encode_tail(of.number(at.raw_bits(register::VALUE)))?;
        let name = at.put_bytes(0, of.ids.name().as_bytes());
        at.put_bytes(name, b"_");
        at.put_bytes(name + 1, &tail);
        at.put_length(name + 1 + TAIL_LEN);
        Ok(())
    }

    /// Reads the part of a string that follows the type and `_`. Writes the string's number.
    #[inline]
    pub fn public_decode(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let of = object.public_type()?;
        let number = of.ids.decode_tail(&at.chunk::<TAIL_LEN>(0))?;
        at.put_integer_id(of.slot(number).cast_signed());
        Ok(())
    }

    /// Reads a count, and that many numbers. Their strings must fit in the scratch area. Writes the strings, concatenated.
    pub fn public_encode_many(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let (of, mut numbers) = (object.public_type()?, [0; BATCH]);
        let numbers = &mut numbers[..at.count()];
        for (index, number) in numbers.iter_mut().enumerate() {
            *number = of.number(u64::from_ne_bytes(at.chunk(index * 8)));
        }
        let mut from = 0;
        of.ids.encode_many(numbers, |text| from += at.put_bytes(from, text.as_bytes()))
    }

    /// Reads a count, and that many strings, concatenated. Writes their numbers.
    pub fn public_decode_many(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let (of, mut texts) = (object.public_type()?, [0; BYTES]);
        at.get_bytes(0, &mut texts);
        let texts = texts.chunks(of.width()).take(at.count());
        let numbers =
            of.ids.decode_many(texts.map(|text| str::from_utf8(text).unwrap_or_default()))?;
        for (index, number) in numbers.into_iter().enumerate() {
            at.put_bytes(index * 8, &of.slot(number).to_ne_bytes());
        }
        Ok(())
    }
}
