/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/frame_class.h"

#include "base/err.h"
#include "query/core/regex.h"

#include <stdlib.h>
#include <string.h>

/* What compilers and linkers hang onto names: .constprop.0, .part.3, .cold, @plt, @@GLIBC_2.2.5; and arguments. */
#define BEGIN "^(?-i)(?:"
#define END   ")(?:\\.[a-z_]+(?:\\.\\d+)*)*(?:@.*)?(?:\\(.*)?$"

/*
 * The kernel's functions in which a processor waits for something to do. A timer that counts time, as cpu-clock, finds it
 * there; what interrupts do meanwhile has other innermost frames.
 * Source: names in arch/x86/kernel/process.c, drivers/acpi/processor_idle.c, drivers/idle, kernel/sched/idle.c of Linux.
 */
#define IDLE_NAMES \
	"(?:pv_)?native_safe_halt|acpi_safe_halt|acpi_idle_(?:do_entry|enter)|acpi_processor_ffh_cstate_enter" \
	"|(?:default|poll|mwait|intel|psw|arch_cpu|cpu_do)_idle(?:_call|_irq|_ibrs|_exit)?|mwait_idle_with_hints" \
	"|tdx_safe_halt|cpu_startup_entry|do_idle"

/* Source: kernel/futex of Linux. */
#define FUTEX_NAMES \
	"do_futex|(?:__)?futex_(?:wait|wake|lock_pi|unlock_pi|q_lock|q_unlock|requeue)(?:_[a-z_]+)?" \
	"|(?:__(?:x64|ia32|arm64|se|do)_)?sys_futex(?:_[a-z0-9_]+)?|__do_sys_futex"

/*
 * Sources: nptl of glibc, src/thread of musl, std::sys of Rust, parking_lot, absl, the runtimes of Go, CPython (ceval_gil.c) and
 * HotSpot, libuv, GLib; kernel/locking of Linux.
 */
#define LOCK_NAMES \
	FUTEX_NAMES \
	"|_*pthread_(?:mutex|rwlock|spin|cond|barrier)_[a-z0-9_]+|__lll_[a-z_]+|lll_[a-z_]+" \
	"|__futex_abstimed_wait[a-z0-9_]*|__futex_lock_pi64|__(?:new_)?sem_(?:wait|post)[a-z0-9_]*|sem_(?:timed|clock)?wait|sem_post" \
	"|std::(?:__1::)?(?:recursive_|shared_|timed_)*mutex::[a-z_]*lock[a-z_]*" \
	"|std::(?:__1::|_V2::)?condition_variable(?:_any)?::(?:wait|notify)[a-z_]*" \
	"|std::(?:__1::)?__atomic_base<.*>::wait|std::__(?:detail::__)?(?:waiter|platform_wait).*" \
	"|std::sys::(?:pal::)?(?:unix|sync)::(?:locks::|futex|mutex|condvar|rwlock|thread_parking).*" \
	"|parking_lot(?:_core)?::.*|lock_api::(?:mutex|rwlock)::.*" \
	"|absl::(?:[a-z0-9_]+::)*(?:Mutex|CondVar|SpinLock|PerThreadSem)::.*" \
	"|runtime\\.(?:lock2?|unlock2?|lockWithRank|unlockWithRank|futex[a-z]*|note(?:t?sleepg?|wakeup)|semacquire1?|semrelease1?|procyield|osyield)" \
	"|sync\\.\\(\\*(?:RW)?Mutex\\)\\..*|internal/sync\\.\\(\\*Mutex\\)\\..*|sync\\.\\(\\*Cond\\)\\..*|sync\\.runtime_.*" \
	"|take_gil|drop_gil|PyThread_acquire_lock(?:_timed)?|PyThread_release_lock|_?PyMutex_(?:Lock|Unlock)[A-Za-z]*|_PySemaphore_.*" \
	"|ObjectMonitor::.*|ObjectSynchronizer::.*|Unsafe_(?:Park|Unpark)|Parker::(?:un)?park|PlatformMonitor::.*" \
	"|uv_(?:mutex|rwlock|cond|sem)_[a-z_]+|g_(?:mutex|rw_lock|cond|rec_mutex)_[a-z_]+" \
	"|(?:__pv_|native_)?queued_(?:spin|read|write)_lock_slowpath|osq_lock|osq_unlock" \
	"|(?:mutex|rwsem)_(?:optimistic_)?spin(?:_on_owner)?|__?mutex_(?:un)?lock[a-z_]*|mutex_(?:un)?lock[a-z_]*|rwsem_(?:down|wake)[a-z_]*" \
	"|(?:__)?down_(?:read|write)[a-z_]*|(?:__)?up_(?:read|write)[a-z_]*|percpu_(?:down|up)_[a-z_]+"

/* malloc/malloc.c, arena.c and malloc-check.c of glibc; what other programs may call a function of theirs is left out. */
#define GLIBC_ALLOC_NAMES \
	"(?:__libc_|__GI___libc_|__)?(?:malloc|free|cfree|calloc|realloc|memalign|valloc|pvalloc)2?|reallocarray|aligned_alloc|posix_memalign" \
	"|_int_(?:malloc|free|realloc|memalign)(?:_[a-z_]+)?|_mid_memalign|malloc_(?:consolidate|trim|usable_size|printerr|init_state)|sysmalloc(?:_[a-z]+)?|systrim|mtrim" \
	"|unlink_chunk|tcache_[a-z_]+|mremap_chunk|munmap_chunk|arena_get(?:2|_retry)|__malloc_[a-z_]+|ptmalloc_[a-z_]+" \
	"|(?:alloc|free)_perturb|checked_request2size|heap_trim|alloc_new_heap|detach_arena|mem2chunk_check|__(?:glibc|default)_morecore"

/* src/malloc/mallocng and oldmalloc of musl. */
#define MUSL_ALLOC_NAMES \
	"__libc_malloc_impl|__malloc0|alloc_(?:slot|group|fwd|rev)|free_group|nontrivial_free|try_avail|enframe|__bin_chunk|__(?:simple_malloc|expand_heap)"

/* Without a prefix where they are static or jemalloc was built without one. */
#define JEMALLOC_NAMES \
	"_?(?:rjem_)?je_.+|_rjem_.+|[mrxds]allocx|sdallocx|nallocx|imalloc(?:_[a-z_]+)?|i(?:s|d)?free(?:_[a-z_]+)?|(?:free|malloc)_(?:fastpath|default)" \
	"|arena_(?:malloc|dalloc|palloc|ralloc|slab|bin|decay|extent|chunk|run|large)[a-z0-9_]*|extent_(?:recycle|split|merge|coalesce|purge|commit|dalloc|alloc|try)[a-z_]*" \
	"|(?:ecache|edata|emap|eset|rtree_leaf|cache_bin|hpa_shard|pac_(?:alloc|dalloc|decay|expand|shrink))[a-z0-9_]*"

/* mi_ alone is also MyISAM's, which has other words behind it. */
#define MIMALLOC_NAMES \
	"_?mi_[a-z_]*(?:malloc|calloc|zalloc|realloc|free|new|page|segment|heap|arena)[a-z0-9_]*" \
	"|_?mi_(?:block_(?:set_)?next|bin|bitmap|bchunk|span|slice|os_(?:alloc|commit|decommit|reset|purge|prim|mem)|prim|collect|usable_size|thread_(?:init|done))[a-z0-9_]*"

/* gperftools, whose functions are partly in no namespace, and tcmalloc. */
#define TCMALLOC_NAMES \
	"tc_(?:malloc|free|calloc|realloc|new|delete|newarray|deletearray)[a-z_]*|tcmalloc::.*|TCMalloc(?:_|Internal|Guard)[A-Za-z_]*(?:::.*)?" \
	"|\\(anonymous namespace\\)::do_(?:malloc|free|calloc|realloc|memalign)[a-z_]*|(?:do_)?(?:malloc|free|memalign)_(?:fast_path|with_callback|pages|or_cpp_alloc|small)"

/* Objects/obmalloc.c of CPython. */
#define PYTHON_ALLOC_NAMES \
	"_?PyObject_(?:Malloc|Calloc|Realloc|Free)|_?PyMem_(?:Raw)?(?:Malloc|Calloc|Realloc|Free)|_PyMem_(?:Raw|Debug|Mi)[A-Za-z]+|_PyObject_(?:Arena|Mi)[A-Za-z]+" \
	"|pymalloc_[a-z_]+|allocate_from_new_pool|new_arena|insert_to_(?:used|free)pool|address_in_range|arena_map_[a-z_]+"

/* The heap of V8's objects, the zones of its compilers, and cppgc; not the collector. */
#define V8_ALLOC_NAMES \
	"v8::internal::(?:[A-Za-z]*(?:Heap|Space|Allocator|Policy|Zone)(?:Base)?|[A-Za-z]*Factory(?:Base<.*>)?)::(?:Try|Slow)*Allocate[A-Za-z]*(?:<.*>)?" \
	"|v8::internal::(?:HeapAllocator|MainAllocator|LinearAllocationArea|LocalAllocationBuffer|AccountingAllocator|FreeList[A-Za-z]*)::.*" \
	"|v8::internal::(?:Runtime_Allocate[A-Za-z]*|Malloced::[A-Za-z]+|Zone::(?:Expand|New|Asan)[A-Za-z]*)|Builtins_(?:Allocate|GrowFast)[A-Za-z]*" \
	"|v8::base::(?:Aligned)?(?:Malloc|Calloc|Realloc|Alloc|Free)|cppgc::internal::(?:ObjectAllocator|FreeList)::.*"

/* src/runtime of Go: malloc.go, mcache.go, mcentral.go, mheap.go, mpagealloc.go; not the collector. */
#define GO_ALLOC_NAMES \
	"runtime\\.(?:mallocgc[A-Za-z0-9]*|newobject|newarray|makeslice(?:64|copy)?|growslice[A-Za-z]*|rawstring|rawbyteslice|rawruneslice" \
	"|nextFreeFast|heapSetType[A-Za-z]*|persistentalloc1?|sys(?:Alloc|Reserve|Map|Used|Unused|Free)[A-Za-z]*" \
	"|\\(\\*m(?:cache|central|heap)\\)\\..*|\\(\\*mspan\\)\\.(?:nextFree|refillAllocCache|initHeapBits|writeHeapBits|heapBits)[A-Za-z]*" \
	"|\\(\\*(?:fixalloc|pageAlloc|pageCache|linearAlloc)\\)\\..*)"

/* alloc and std of Rust, and what compilers put between them and the allocator that a program chose. */
#define RUST_ALLOC_NAMES \
	"(?:__rustc::)?__r(?:ust|dl|g)_(?:alloc|dealloc|realloc|alloc_zeroed)|alloc::alloc::.*|std::(?:alloc|sys::alloc|sys::pal::[a-z]+::alloc)::.*" \
	"|<(?:alloc|std)::alloc::(?:Global|System)(?: as .*)?>::.*|<alloc::alloc::Global as .*|<(?:mimalloc|jemallocator|tikv_jemallocator)::.*"

/* The rest: operators of C++, and GLib. */
#define ALLOC_NAMES \
	GLIBC_ALLOC_NAMES \
	"|" MUSL_ALLOC_NAMES "|" JEMALLOC_NAMES "|" MIMALLOC_NAMES "|" TCMALLOC_NAMES \
	"|" PYTHON_ALLOC_NAMES "|" V8_ALLOC_NAMES "|" GO_ALLOC_NAMES "|" RUST_ALLOC_NAMES \
	"|operator (?:new|delete)(?:\\[\\])?|_Zn[wa][a-zA-Z0-9_]+|_Zd[la][a-zA-Z0-9_]+" \
	"|g_(?:malloc0?|realloc|free|slice_(?:alloc0?|free1)|malloc0?_n|try_malloc)"

/* Sources: sysdeps/x86_64/multiarch and sysdeps/aarch64 of glibc; arch/x86/lib and arch/arm64/lib of Linux; the runtime of Go. */
#define COPY_NAMES \
	"(?:__|__GI_)?(?:w?mem(?:cpy|move|set|pcpy)|bcopy|bzero)(?:_(?:chk|generic|orig|erms|avx|avx2|avx512|sse2|ssse3|evex|unaligned|rep|movsb|no_vzeroupper|back|vzeroupper|rtm|thunderx|falkor|a64fx|simd|sve|mops|kunpeng916|zva64|oryon1|emag)[a-z0-9_]*)?" \
	"|rep_(?:movs|stos)_alternative|_?copy_(?:user|page|mc|to|from)_[a-z0-9_]+|__(?:arch_)?copy_(?:to|from|user)_?[a-z0-9_]*|clear_page(?:_[a-z]+)?|copy_page(?:_[a-z]+)?|__clear_user" \
	"|_?copy_(?:to|from)_iter|copyout|copyin|copy_page_(?:to|from)_iter(?:_[a-z]+)?" \
	"|runtime\\.(?:memmove|memclr[A-Za-z]*|typedmemmove)|compiler_builtins::mem::.*"

/* Sources: arch/x86/mm/fault.c, arch/arm64/mm/fault.c, mm/memory.c of Linux. */
#define FAULT_NAMES \
	"(?:asm_)?exc_page_fault|(?:async_|trace_)?page_fault|(?:__)?do_page_fault|do_user_addr_fault|(?:__)?handle_mm_fault" \
	"|do_(?:translation_fault|mem_abort|anonymous_page|fault|wp_page|fault_around|read_fault|cow_fault)|el0_da|el0_ia|faultin_page"

static const struct {
	const char *name;
	bool innermost;
} classes[N_FRAME_CLASSES] = {
#define X(id, text, leaf) [FRAME_CLASS_##id] = { text, leaf },
	FRAME_CLASSES(X)
#undef X
};

/* Of the others no names decide. */
static const char *const expressions[N_FRAME_CLASSES] = {
	[FRAME_CLASS_IDLE] = BEGIN IDLE_NAMES END,   [FRAME_CLASS_LOCK] = BEGIN LOCK_NAMES END,
	[FRAME_CLASS_FUTEX] = BEGIN FUTEX_NAMES END, [FRAME_CLASS_ALLOC] = BEGIN ALLOC_NAMES END,
	[FRAME_CLASS_COPY] = BEGIN COPY_NAMES END,   [FRAME_CLASS_FAULT] = BEGIN FAULT_NAMES END,
};

const char *frame_class_name(enum frame_class c)
{
	return classes[c].name;
}

bool frame_class_is_innermost(enum frame_class c)
{
	return classes[c].innermost;
}

bool frame_class_find(const char *name, enum frame_class *out)
{
	for (int i = 0; i < N_FRAME_CLASSES; i++) {
		if (strcmp(classes[i].name, name) != 0)
			continue;
		*out = (enum frame_class)i;
		return true;
	}
	return false;
}

static bool is_tracer(const struct profile *p, module_id m)
{
	return strcmp(profile_string(p, profile_module(p, m)->name, NULL), TRACER_MODULE) == 0;
}

struct regex *frame_class_regex(enum frame_class c)
{
	return expressions[c] ? regex_new(expressions[c], NULL) : NULL;
}

bool frame_class_has_function(enum frame_class c, struct regex *regex, const struct profile *p,
			      const struct function *f)
{
	size_t len;
	const char *name = profile_string(p, f->name, &len);

	if (f->flags & (FUNCTION_COMM | FUNCTION_MARK))
		return false;
	if (c == FRAME_CLASS_KERNEL)
		return profile_module(p, f->module)->family == FAMILY_KERNEL;
	if (c == FRAME_CLASS_UNNAMED)
		return f->flags & FUNCTION_UNRESOLVED;
	if (c == FRAME_CLASS_TRACER || is_tracer(p, f->module))
		return c == FRAME_CLASS_TRACER && is_tracer(p, f->module);
	/* A program may have a function page_fault(). */
	if (c == FRAME_CLASS_FAULT && profile_module(p, f->module)->family != FAMILY_KERNEL)
		return false;
	return regex_matches(regex, name, len);
}

bool frame_class_has_unnamed(enum frame_class c, const struct profile *p, module_id m)
{
	return c == FRAME_CLASS_UNNAMED ||
	       (c == FRAME_CLASS_KERNEL && profile_module(p, m)->family == FAMILY_KERNEL) ||
	       (c == FRAME_CLASS_TRACER && is_tracer(p, m));
}
