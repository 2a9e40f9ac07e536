//! Columns as another library might provide them. The structs are declared independently of `polyflake_columns`, so that
//! they can have arbitrary content.
#![allow(unsafe_code, reason = "the interface is one of C")]
#![allow(dead_code, reason = "each test uses a part of it")]

use std::{
    ffi::{CString, c_char, c_int, c_void},
    ptr::{self, NonNull},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use polyflake_columns::arrow::{Array, CDataStruct, Chunks, Schema, Stream, StreamError};

/// Arrow's schema struct, as defined in the specification.
#[repr(C)]
struct ForeignSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ForeignSchema,
    dictionary: *mut ForeignSchema,
    release: Option<unsafe extern "C" fn(*mut ForeignSchema)>,
    private_data: *mut c_void,
}

/// Arrow's array struct, as defined in the specification.
#[repr(C)]
struct ForeignArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ForeignArray,
    dictionary: *mut ForeignArray,
    release: Option<unsafe extern "C" fn(*mut ForeignArray)>,
    private_data: *mut c_void,
}

/// Arrow's stream struct, as defined in the specification.
#[repr(C)]
struct ForeignStream {
    get_schema: Option<unsafe extern "C" fn(*mut ForeignStream, *mut ForeignSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ForeignStream, *mut ForeignArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ForeignStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ForeignStream)>,
    private_data: *mut c_void,
}

/// The content of a buffer, aligned to 8 bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    words: Vec<u64>,
    length: usize,
}

impl Buffer {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |eight: &[u8]| {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            u64::from_ne_bytes(word)
        };
        // One extra word keeps a shifted buffer within its allocation.
        let words = bytes.chunks(8).map(word).chain([0]).collect();
        Self { words, length: bytes.len() }
    }

    pub(crate) fn from_items<const N: usize>(items: impl IntoIterator<Item = [u8; N]>) -> Self {
        Self::from_bytes(&items.into_iter().flatten().collect::<Vec<_>>())
    }

    pub(crate) fn from_i32s(items: &[i32]) -> Self {
        Self::from_items(items.iter().map(|item| item.to_ne_bytes()))
    }

    pub(crate) fn from_i64s(items: &[i64]) -> Self {
        Self::from_items(items.iter().map(|item| item.to_ne_bytes()))
    }

    /// Overwrites the bytes from position `at` with `bytes`.
    pub(crate) fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        let mut all: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        all[at..][..bytes.len()].copy_from_slice(bytes);
        *self = Self { length: self.length, ..Self::from_bytes(&all) };
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

/// A description of a column that can be exported as Arrow structs. The column may be malformed.
#[derive(Clone, Debug)]
pub(crate) struct ForeignColumn {
    /// The Arrow format string, or `None` for a null pointer.
    pub(crate) format: Option<String>,
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    /// The number of buffers that the array declares, or `None` to declare the actual number.
    pub(crate) n_buffers: Option<i64>,
    /// The buffers. A `None` element is exported as a null pointer.
    pub(crate) buffers: Vec<Option<Buffer>>,
    /// The number of bytes by which the buffers are misaligned.
    pub(crate) shift: usize,
    pub(crate) has_buffers: bool,
    pub(crate) schema_is_released: bool,
    pub(crate) array_is_released: bool,
    /// The dictionary's schema and its array of values.
    pub(crate) dictionary: (Option<Box<ForeignColumn>>, Option<Box<ForeignColumn>>),
}

impl ForeignColumn {
    /// Creates a column without nulls.
    pub(crate) fn new(
        format: &str,
        length: usize,
        buffers: impl IntoIterator<Item = Buffer>,
    ) -> Self {
        Self {
            format: Some(format.to_owned()),
            length: length.try_into().expect("short"),
            null_count: 0,
            offset: 0,
            n_buffers: None,
            buffers: std::iter::once(None).chain(buffers.into_iter().map(Some)).collect(),
            shift: 0,
            has_buffers: true,
            schema_is_released: false,
            array_is_released: false,
            dictionary: (None, None),
        }
    }

    /// Applies a change to the column.
    pub(crate) fn modify(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Marks items as null.
    pub(crate) fn with_nulls(mut self, is_null: impl Fn(usize) -> bool) -> Self {
        let places = usize::try_from(self.offset + self.length).expect("a length");
        let mut map = vec![0xff; places.div_ceil(8)];
        for at in (0..places).filter(|at| is_null(*at)) {
            map[at / 8] &= !(1 << (at % 8));
        }
        self.buffers[0] = Some(Buffer::from_bytes(&map));
        self.null_count = -1;
        self
    }

    /// Creates a dictionary of the given values, with keys in the given format.
    pub(crate) fn from_keys(format: &str, count: usize, keys: Buffer, values: Self) -> Self {
        let both = (Some(Box::new(values.clone())), Some(Box::new(values)));
        Self { dictionary: both, ..Self::new(format, count, [keys]) }
    }

    /// Passes the column to the reader, and returns the reader's chunks and a counter of the structs that have not been
    /// released yet.
    pub(crate) fn export(&self) -> (Chunks, Arc<AtomicUsize>) {
        let held = Arc::default();
        let (mut schema, mut array) = (self.schema(&held), self.array(&held));
        // SAFETY: the structs have the same layout as the interface's structs, and all properties that a reader cannot
        // check conform to the interface.
        let pieces =
            unsafe { Chunks::import_array(import_struct(&mut schema), import_struct(&mut array)) };
        assert!(schema.release.is_none() && array.release.is_none(), "they were taken");
        (pieces, held)
    }

    fn schema(&self, held: &Arc<AtomicUsize>) -> ForeignSchema {
        let format = self.format.as_deref().map(|format| CString::new(format).expect("no zero"));
        let values = self.dictionary.0.as_ref().map(|values| Box::new(values.schema(held)));
        let owned = Box::new((format, ReleaseCounter::new(held)));
        ForeignSchema {
            format: owned.0.as_ref().map_or(ptr::null(), |format| format.as_ptr()),
            name: c"".as_ptr(),
            metadata: ptr::null(),
            flags: 2,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: values.map_or(ptr::null_mut(), Box::into_raw),
            release: Some(release_schema),
            private_data: Box::into_raw(owned).cast(),
        }
        .release_if(self.schema_is_released)
    }

    fn array(&self, held: &Arc<AtomicUsize>) -> ForeignArray {
        let start = |buffer: &Option<Buffer>| {
            let start = buffer.as_ref().map_or(ptr::null(), |buffer| buffer.words.as_ptr());
            start.cast::<u8>().wrapping_add(if start.is_null() { 0 } else { self.shift }).cast()
        };
        let values = self.dictionary.1.as_ref().map(|values| Box::new(values.array(held)));
        let buffers = self.buffers.clone();
        let pointers: Vec<*const c_void> = buffers.iter().map(start).collect();
        let count = pointers.len().try_into().expect("few");
        let owned = Box::into_raw(Box::new((buffers, pointers, ReleaseCounter::new(held))));
        // SAFETY: `owned` comes from a box that was just created, so this is the only reference to it.
        let pointers = unsafe { &mut (*owned).1 };
        ForeignArray {
            length: self.length,
            null_count: self.null_count,
            offset: self.offset,
            n_buffers: self.n_buffers.unwrap_or(count),
            n_children: 0,
            buffers: if self.has_buffers { pointers.as_mut_ptr() } else { ptr::null_mut() },
            children: ptr::null_mut(),
            dictionary: values.map_or(ptr::null_mut(), Box::into_raw),
            release: Some(release_array),
            private_data: owned.cast(),
        }
        .release_if(self.array_is_released)
    }
}

/// A guard that counts one struct as unreleased until the guard is dropped.
struct ReleaseCounter(Arc<AtomicUsize>);

impl ReleaseCounter {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for ReleaseCounter {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// # Safety
/// `F` and `T` must be definitions of the same C Data Interface struct.
unsafe fn import_struct<F, T: CDataStruct>(foreign: &mut F) -> T {
    assert_eq!((size_of::<F>(), align_of::<F>()), (size_of::<T>(), align_of::<T>()));
    // SAFETY: the caller guarantees that `F` and `T` define the same struct, and an exclusive reference is writable.
    unsafe { T::take(NonNull::from(foreign).cast()) }
}

impl ForeignSchema {
    /// Releases the schema if `is_released` is `true`. Its format pointer is not cleared, although the format string has
    /// been freed.
    fn release_if(mut self, is_released: bool) -> Self {
        if is_released {
            // SAFETY: the schema has not been released yet, so it may be released here.
            unsafe { release_schema(&raw mut self) };
        }
        self
    }
}

impl ForeignArray {
    fn release_if(mut self, is_released: bool) -> Self {
        if is_released {
            // SAFETY: the array has not been released yet, so it may be released here.
            unsafe { release_array(&raw mut self) };
        }
        self
    }
}

unsafe extern "C" fn release_schema(schema: *mut ForeignSchema) {
    // SAFETY: the caller owns an unreleased schema that `ForeignColumn::schema` created.
    unsafe {
        assert!((*schema).release.is_some(), "released once");
        drop(Box::from_raw((*schema).private_data.cast::<(Option<CString>, ReleaseCounter)>()));
        if let Some(values) = NonNull::new((*schema).dictionary) {
            let mut values = Box::from_raw(values.as_ptr());
            if values.release.is_some() {
                release_schema(&raw mut *values);
            }
        }
        (*schema).dictionary = ptr::null_mut();
        (*schema).release = None;
    }
}

type OwnedBuffers = (Vec<Option<Buffer>>, Vec<*const c_void>, ReleaseCounter);

unsafe extern "C" fn release_array(array: *mut ForeignArray) {
    // SAFETY: the caller owns an unreleased array that `ForeignColumn::array` created.
    unsafe {
        assert!((*array).release.is_some(), "released once");
        drop(Box::from_raw((*array).private_data.cast::<OwnedBuffers>()));
        if let Some(values) = NonNull::new((*array).dictionary) {
            let mut values = Box::from_raw(values.as_ptr());
            if values.release.is_some() {
                release_array(&raw mut *values);
            }
        }
        (*array).dictionary = ptr::null_mut();
        (*array).release = None;
    }
}

/// A stream that delivers the chunks of one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForeignChunks {
    pub(crate) pieces: Vec<ForeignColumn>,
    /// The call that fails: 0 for the schema, 1 for the first chunk.
    pub(crate) fails_at: Option<usize>,
    /// The stream's error message, or `None` for a null pointer.
    pub(crate) reason: Option<CString>,
    pub(crate) is_released: bool,
    pub(crate) lacks_schema: bool,
    pub(crate) lacks_next: bool,
}

/// The state of a stream.
struct StreamState {
    given: ForeignChunks,
    calls: usize,
    held: Arc<AtomicUsize>,
    _this: ReleaseCounter,
}

impl ForeignChunks {
    pub(crate) fn collect(self) -> (Result<Chunks, StreamError>, Arc<AtomicUsize>) {
        let held: Arc<AtomicUsize> = Arc::default();
        let (is_released, lacks_schema, lacks_next) =
            (self.is_released, self.lacks_schema, self.lacks_next);
        let state = StreamState {
            given: self,
            calls: 0,
            held: held.clone(),
            _this: ReleaseCounter::new(&held),
        };
        let mut stream = ForeignStream {
            get_schema: if lacks_schema { None } else { Some(get_schema) },
            get_next: if lacks_next { None } else { Some(get_next) },
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(state)).cast(),
        };
        if is_released {
            // SAFETY: the stream has not been released yet, so it may be released here.
            unsafe { release_stream(&raw mut stream) };
        }
        // SAFETY: the struct matches the interface's stream struct.
        let stream: Stream = unsafe { import_struct(&mut stream) };
        (stream.collect(), held)
    }
}

/// # Safety
/// `stream` must be an unreleased stream that [`ForeignChunks::collect`] created.
unsafe fn state<'a>(stream: *mut ForeignStream) -> &'a mut StreamState {
    // SAFETY: the caller guarantees that `ForeignChunks::collect` created the stream. Its private data is a `StreamState`
    // until it is released. Only one thread at a time uses a stream.
    unsafe { &mut *(*stream).private_data.cast() }
}

impl StreamState {
    /// Returns the status code of the next call.
    fn next_status_code(&mut self) -> c_int {
        self.calls += 1;
        if self.given.fails_at == Some(self.calls - 1) { 5 } else { 0 }
    }
}

unsafe extern "C" fn get_schema(stream: *mut ForeignStream, place: *mut ForeignSchema) -> c_int {
    // SAFETY: readers pass an unreleased stream, and a pointer to memory that they own.
    unsafe {
        let state = state(stream);
        let code = state.next_status_code();
        if let (0, Some(first)) = (code, state.given.pieces.first()) {
            place.write(first.schema(&state.held));
        }
        code
    }
}

unsafe extern "C" fn get_next(stream: *mut ForeignStream, place: *mut ForeignArray) -> c_int {
    // SAFETY: readers pass an unreleased stream, and a pointer to memory that they own.
    unsafe {
        let state = state(stream);
        let code = state.next_status_code();
        if let (0, Some(piece)) = (code, state.given.pieces.get(state.calls - 2)) {
            place.write(piece.array(&state.held));
        }
        code
    }
}

unsafe extern "C" fn get_last_error(stream: *mut ForeignStream) -> *const c_char {
    // SAFETY: readers pass an unreleased stream.
    unsafe { state(stream) }.given.reason.as_ref().map_or(ptr::null(), |reason| reason.as_ptr())
}

unsafe extern "C" fn release_stream(stream: *mut ForeignStream) {
    // SAFETY: the caller owns an unreleased stream.
    unsafe {
        assert!((*stream).release.is_some(), "released once");
        drop(Box::from_raw((*stream).private_data.cast::<StreamState>()));
        (*stream).private_data = ptr::null_mut();
        (*stream).release = None;
    }
}

/// Returns the sizes of the structs in this module and of the reader's structs. The sizes in each pair must be equal.
pub(crate) fn struct_sizes() -> [(usize, usize); 3] {
    [
        (size_of::<ForeignSchema>(), size_of::<Schema>()),
        (size_of::<ForeignArray>(), size_of::<Array>()),
        (size_of::<ForeignStream>(), size_of::<Stream>()),
    ]
}

/// The layout of the strings in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Fixed(usize),
    Offsets32,
    Offsets64,
    Views,
}

/// Builds a column of byte strings with an offset of `before` items. In a fixed-width layout, items are truncated or
/// zero-padded.
pub(crate) fn column(
    layout: Layout,
    is_text: bool,
    items: &[Vec<u8>],
    before: usize,
) -> ForeignColumn {
    let others = std::iter::repeat_n(b"another ID's text, or none".to_vec(), before);
    let all: Vec<Vec<u8>> = others.chain(items.iter().cloned()).collect();
    let place = |at: usize| all[..at].iter().map(Vec::len).sum::<usize>();
    let [u, v] = if is_text { ["u", "vu"] } else { ["z", "vz"] };
    let (format, buffers) = match layout {
        Layout::Fixed(width) => {
            let cut = |item: &Vec<u8>| {
                (0..width).map(|at| item.get(at).copied().unwrap_or(0)).collect::<Vec<_>>()
            };
            let bytes: Vec<u8> = all.iter().flat_map(cut).collect();
            (format!("w:{width}"), vec![Buffer::from_bytes(&bytes)])
        }
        Layout::Offsets32 => {
            let places = (0..=all.len()).map(|at| i32::try_from(place(at)).expect("short"));
            (
                u.to_owned(),
                vec![
                    Buffer::from_i32s(&places.collect::<Vec<_>>()),
                    Buffer::from_bytes(&all.concat()),
                ],
            )
        }
        Layout::Offsets64 => {
            let places = (0..=all.len()).map(|at| i64::try_from(place(at)).expect("short"));
            (
                u.to_uppercase(),
                vec![
                    Buffer::from_i64s(&places.collect::<Vec<_>>()),
                    Buffer::from_bytes(&all.concat()),
                ],
            )
        }
        Layout::Views => {
            let views = all.iter().enumerate().map(|(at, item)| view(item, 0, place(at)));
            let bytes = all.concat();
            let length = Buffer::from_i64s(&[bytes.len().try_into().expect("short")]);
            (v.to_owned(), vec![Buffer::from_items(views), Buffer::from_bytes(&bytes), length])
        }
    };
    let mut column = ForeignColumn::new(&format, items.len(), buffers);
    column.offset = before.try_into().expect("few");
    column
}

/// Returns the view of an item. An item of up to 12 bytes is stored in the view itself. For a longer item, the view refers
/// to a position in a buffer.
pub(crate) fn view(item: &[u8], buffer: i32, place: usize) -> [u8; 16] {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&i32::try_from(item.len()).expect("short").to_ne_bytes());
    if item.len() <= 12 {
        view[4..][..item.len()].copy_from_slice(item);
        return view;
    }
    view[4..8].copy_from_slice(&item[..4]);
    view[8..12].copy_from_slice(&buffer.to_ne_bytes());
    view[12..].copy_from_slice(&i32::try_from(place).expect("short").to_ne_bytes());
    view
}
