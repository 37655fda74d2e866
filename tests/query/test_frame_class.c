/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of allocators by their names, those inside of them too, and others that look like some of them. */
#include "config.h"

#include "query/core/frame_class.h"
#include "query/core/regex.h"

#include <criterion/criterion.h>
#include <string.h>

Test(frame_class, allocators)
{
	static const char *const allocate[] = {
		/* glibc */
		"malloc",
		"__libc_free",
		"_int_malloc",
		"_int_free.isra.0",
		"alloc_perturb",
		"free_perturb",
		"tcache_get",
		"sysmalloc",
		"sysmalloc_mmap.isra.0",
		"malloc_usable_size",
		"arena_get_retry",
		"__libc_calloc2",
		"cfree@GLIBC_2.2.5",
		"_mid_memalign",
		/* musl */
		"__libc_malloc_impl",
		"alloc_slot",
		"nontrivial_free",
		"enframe",
		/* jemalloc */
		"je_arena_malloc_hard",
		"sdallocx",
		"arena_slab_alloc",
		"extent_recycle",
		"cache_bin_alloc_easy",
		"imalloc_no_sample",
		"emap_split_prepare",
		/* mimalloc */
		"mi_malloc",
		"_mi_page_malloc",
		"mi_block_set_next",
		"_mi_os_commit",
		"mi_bin",
		/* tcmalloc and gperftools */
		"tc_newarray",
		"tcmalloc::CentralFreeList::RemoveRange(int, void**, void**)",
		"(anonymous namespace)::do_malloc(unsigned long)",
		"TCMallocInternalNew",
		"do_free_with_callback(void*, void (*)(void*), bool, unsigned long)",
		/* CPython */
		"_PyObject_Malloc",
		"pymalloc_alloc",
		"pymalloc_pool_extend",
		"allocate_from_new_pool",
		"allocate_from_new_pool.isra.0",
		"new_arena",
		"insert_to_usedpool",
		"_PyObject_ArenaMmap",
		/* V8 */
		"v8::internal::Factory::AllocateRaw(int, v8::internal::AllocationType)",
		"v8::internal::FactoryBase<v8::internal::Factory>::AllocateRawWithImmortalMap(int)",
		"v8::internal::EvacuationAllocator::AllocateInNewSpace(int)",
		"v8::internal::Heap::AllocateRaw<(v8::internal::Heap::AllocationRetryMode)1>(int)",
		"Builtins_AllocateInYoungGeneration",
		"v8::internal::Zone::Expand(unsigned long)",
		"v8::internal::Runtime_AllocateInYoungGeneration(int, unsigned long*)",
		/* Go */
		"runtime.mallocgc",
		"runtime.mallocgcSmallNoscan",
		"runtime.nextFreeFast",
		"runtime.(*mspan).nextFreeIndex",
		"runtime.(*mcache).refill",
		"runtime.sysAlloc",
		"runtime.(*pageAlloc).alloc",
		/* Rust */
		"__rust_alloc",
		"__rustc::__rust_dealloc",
		"alloc::alloc::Global::alloc_impl",
		"<alloc::alloc::Global as core::alloc::Allocator>::deallocate",
		"<std::alloc::System as core::alloc::global::GlobalAlloc>::alloc",
		/* C++ and GLib */
		"operator new(unsigned long)",
		"operator delete[](void*)",
		"g_slice_alloc",
	};
	static const char *const others[] = {
		"main",
		"allocate",
		"free_list",
		"mi_rkey",
		"mi_write",
		"_mi_read_dynamic_record",
		"my_malloc_of",
		"freedom",
		"alloc_perturbation",
		"extent_tree",
		"arena_of",
		"v8::internal::Scavenger::Process(v8::JobDelegate*)",
		"v8::internal::JsonParser<unsigned char>::ParseJsonValue<true>(int)",
		"v8::internal::MarkCompactCollector::MarkLiveObjects()",
		"runtime.gcDrain",
		"runtime.(*mspan).sweep",
		"runtime.systemstack",
		"runtime.mapassign",
		"alloc::vec::Vec<T,A>::push",
		"alloc::string::String::from",
		"std::vector<int>::size()",
		"PyDict_New",
		"dict_dealloc",
		"operator==(A const&, A const&)",
		"sysctl",
		"group_alloc",
	};
	struct regex *re = frame_class_regex(FRAME_CLASS_ALLOC);

	cr_assert_not_null(re);
	for (size_t i = 0; i < sizeof(allocate) / sizeof(*allocate); i++)
		cr_expect(regex_matches(re, allocate[i], strlen(allocate[i])), "%s is none",
			  allocate[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect(!regex_matches(re, others[i], strlen(others[i])), "%s is one", others[i]);
	regex_free(re);
}
