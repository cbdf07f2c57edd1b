//! Chooses the pipe.

fn main() {
    println!("cargo::rustc-cfg=rt_notify_force_pipe");
    println!("cargo::rerun-if-changed=build.rs");
}
