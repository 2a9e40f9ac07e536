//! Leases of node numbers that cannot overlap.
#![no_std]
