//! Making, encoding and decoding IDs allocates nothing.
#![allow(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use polyflake::sno::{self, Generator, Sno};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator; the counter is thread-local and needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise, handed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[track_caller]
fn assert_no_allocation<R>(work: impl Fn() -> R) {
    let before = ALLOCATIONS.with(Cell::get);
    std::hint::black_box(work());
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.with(Cell::get);
    std::hint::black_box(Box::new(1));
    assert_eq!(ALLOCATIONS.with(Cell::get), before + 1);
}

#[test]
fn sno_allocates_nothing() {
    let ids = Generator::builder().partition(1).build().unwrap();
    let id = ids.generate(0).unwrap();
    let text = id.text();
    let mut batch = [Sno::default(); 100];
    assert_no_allocation(|| ids.generate(1).unwrap());
    assert_no_allocation(|| ids.generate_text(1).unwrap());
    assert_no_allocation(|| id.text());
    assert_no_allocation(|| Sno::parse(&text).unwrap());
    assert_no_allocation(|| sno::metabyte(&text).unwrap());
    assert_no_allocation(|| Sno::parse("not an id at all").unwrap_err());
    assert_no_allocation(|| sno::generate(1).unwrap());
    let before = ALLOCATIONS.with(Cell::get);
    ids.fill(1, &mut batch).unwrap();
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
}
