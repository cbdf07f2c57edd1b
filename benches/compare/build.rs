//! Compiles the C++20 mechanisms where there is a compiler for them, and notes which compilers were used.

use std::env;
use std::process::Command;

const FILES: [&str; 5] =
    ["counting_semaphore", "binary_semaphore", "atomic_flag", "atomic_bool", "condition_variable"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(no_cpp20)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=cpp");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++20").opt_level(2).flag_if_supported("-fno-exceptions").cargo_warnings(false);
    build.files(FILES.map(|file| format!("cpp/{file}.cpp")));
    let compiler = match build.try_compile("cpp20_wakeups") {
        Ok(()) => {
            build.try_get_compiler().map_or("unknown".into(), |tool| first_line(&mut tool.to_command()))
        }
        Err(error) => {
            println!("cargo::rustc-cfg=no_cpp20");
            format!("none that knows C++20 ({})", error.to_string().lines().next().unwrap_or_default())
        }
    };
    println!("cargo::rustc-env=COMPARE_CXX={compiler}");
    let rustc = env::var("RUSTC").map_or("unknown".into(), |rustc| first_line(&mut Command::new(rustc)));
    println!("cargo::rustc-env=COMPARE_RUSTC={rustc}");
}

/// What the compiler says it is.
fn first_line(compiler: &mut Command) -> String {
    let said = compiler.arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).lines().next().unwrap_or("unknown").to_owned()
}
