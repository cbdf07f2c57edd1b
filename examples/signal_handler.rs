//! A signal handler wakes the main thread through a `static` [`Semaphore`](rt_notify::Semaphore).
//!
//!     cargo run --example signal_handler
//!
//! A handler may call next to nothing: no lock, no allocation, no channel. `Semaphore::post` is made for it.

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    use std::thread;
    use std::time::Duration;

    use rt_notify::Semaphore;
    use signal_hook::consts::SIGUSR1;
    use signal_hook::low_level;

    // 1. A semaphore that every part of the program can reach, handlers included.
    static REQUESTS: Semaphore = Semaphore::new(0);

    // 2. Post it from a handler.
    #[allow(unsafe_code, reason = "whoever installs a handler vouches for what it calls")]
    // SAFETY: the handler calls nothing but `post`, which is async-signal-safe.
    unsafe { low_level::register(SIGUSR1, || REQUESTS.post()) }?;

    // 3. Signals come from outside, as by `kill -USR1`. Here a thread sends three.
    const SIGNALS: u32 = 3;
    let sender = thread::spawn(|| (0..SIGNALS).try_for_each(|_| low_level::raise(SIGUSR1)));

    // 4. Wait. Each wait takes one permit, so none of the requests is overlooked.
    for number in 1..=SIGNALS {
        assert!(REQUESTS.wait_timeout(Duration::from_secs(10)), "signal {number} posted no permit");
        println!("request {number} of {SIGNALS}");
    }

    // 5. Each signal was one permit, no more.
    sender.join().expect("the sender does not panic")?;
    assert_eq!(REQUESTS.count(), 0);
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("signal_handler: this example needs Unix signals");
}
