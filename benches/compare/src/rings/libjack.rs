//! JACK's own ring, from its client library, which is looked for when it is needed.
#![allow(unsafe_code, reason = "it is a C library, called by pointers")]

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use libloading::{Library, Symbol};

/// The functions that are used, and the library that must stay for them.
struct Functions {
    create: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    read: unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> usize,
    read_space: unsafe extern "C" fn(*const c_void) -> usize,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> usize,
    write_space: unsafe extern "C" fn(*const c_void) -> usize,
    _library: Library,
}

fn functions() -> Result<&'static Functions, String> {
    static FOUND: OnceLock<Result<Functions, String>> = OnceLock::new();
    FOUND.get_or_init(|| load().map_err(|error| format!("libjack: {error}"))).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Functions, libloading::Error> {
    // SAFETY: its initialisers do nothing that could disturb.
    let library = unsafe { Library::new("libjack.so.0") }?;
    Ok(Functions {
        create: find(&library, b"jack_ringbuffer_create\0")?,
        free: find(&library, b"jack_ringbuffer_free\0")?,
        read: find(&library, b"jack_ringbuffer_read\0")?,
        read_space: find(&library, b"jack_ringbuffer_read_space\0")?,
        write: find(&library, b"jack_ringbuffer_write\0")?,
        write_space: find(&library, b"jack_ringbuffer_write_space\0")?,
        _library: library,
    })
}

fn find<F: Copy>(library: &Library, name: &[u8]) -> Result<F, libloading::Error> {
    // SAFETY: the types in `Functions` are those of jack/ringbuffer.h.
    let symbol: Symbol<'_, F> = unsafe { library.get(name) }?;
    Ok(*symbol)
}

/// A `jack_ringbuffer_t`.
struct Raw {
    functions: &'static Functions,
    ring: NonNull<c_void>,
}

// SAFETY: it may be used by two threads, one that writes and one that reads; the ends below see to that.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: it was created by the library, and both ends are gone.
        unsafe { (self.functions.free)(self.ring.as_ptr()) };
    }
}

/// The only end that writes.
pub(super) struct WriteEnd(Arc<Raw>);

/// The only end that reads.
pub(super) struct ReadEnd(Arc<Raw>);

/// A ring of so many bytes, less one, rounded up to a power of two.
pub(super) fn ring(bytes: usize) -> Result<(WriteEnd, ReadEnd), String> {
    let functions = functions()?;
    // SAFETY: any size will do; without memory it returns null.
    let ring = unsafe { (functions.create)(bytes) };
    let raw = Arc::new(Raw { functions, ring: NonNull::new(ring).ok_or("libjack: no memory for a ring")? });
    Ok((WriteEnd(Arc::clone(&raw)), ReadEnd(raw)))
}

impl WriteEnd {
    /// How many bytes fit.
    #[inline]
    pub(super) fn space(&self) -> usize {
        // SAFETY: it lives as long as `self`.
        unsafe { (self.0.functions.write_space)(self.0.ring.as_ptr()) }
    }

    /// Writes them, and says how many bytes did fit.
    #[inline]
    pub(super) fn write(&mut self, items: &[u32]) -> usize {
        // SAFETY: as in `space`, nobody else writes, and it reads no more than `items` has.
        unsafe { (self.0.functions.write)(self.0.ring.as_ptr(), items.as_ptr().cast(), size_of_val(items)) }
    }
}

impl ReadEnd {
    /// How many bytes are there.
    #[inline]
    pub(super) fn space(&self) -> usize {
        // SAFETY: it lives as long as `self`.
        unsafe { (self.0.functions.read_space)(self.0.ring.as_ptr()) }
    }

    /// Fills `items`, and says how many bytes were there.
    #[inline]
    pub(super) fn read(&mut self, items: &mut [u32]) -> usize {
        let size = size_of_val(items);
        // SAFETY: as in `space`, nobody else reads, and it writes no more than `items` has; any bytes make a u32.
        unsafe { (self.0.functions.read)(self.0.ring.as_ptr(), items.as_mut_ptr().cast(), size) }
    }
}
