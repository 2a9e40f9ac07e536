//! IDs of each system, as its own library makes them.
use polyflake_inspect::{Context, inspect};
#[test]
fn look() {
    let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
    for id in ["175928847299117063","1541815603606036480","a7rdmuv326nct5if","550e8400-e29b-41d4-a716-446655440000","019a1b3c-7c00-7aaa-baaa-aaaaaaaaaaaa","01ARZ3NDEKTSV4RRFFQ69G5FAV","42","1763650000","1763650000123","507f1f77bcf86cd799439011","9m4e2mr0ui3e8a215n4g","0ujtsYcgvSTl8PAuAdqWYSMnLOv","3jzfcijpj2z2a","-JhLeOlGIEjaIOFHR0xd","691f29d0-bbaa-ddcc-ee01-0203ffffffff","user_01h455vb4pex5vsknk084sn02q","hello","V1StGXR8_Z5jdHi6B-myT","0","cjld2cjxh0000qzrmn831i7rn"] {
        println!("{id}");
        for r in inspect(id, &context).iter().take(3) { println!("   {:20} {:.4} {:?} {}", r.format, r.odds, r.time(), r.reason); }
    }
}
