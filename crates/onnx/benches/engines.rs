//! The engines on the networks of LPIPS and DISTS.

fn main() {
    divan::main();
}
