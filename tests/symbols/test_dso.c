/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "elf/build_id.h"
#include "symbols/space/dso.h"

#include <criterion/criterion.h>

static const struct {
	const char *recorded; /* path in the mapping event */
	int32_t pid;
	bool executable;
	const char *path; /* what it becomes */
	enum dso_kind kind;
	enum family family;
} rows[] = {
	{ "/usr/bin/git", 5, true, "/usr/bin/git", DSO_FILE, FAMILY_PROGRAM },
	{ "/usr/lib/x86_64-linux-gnu/libc.so.6", 5, true, "/usr/lib/x86_64-linux-gnu/libc.so.6",
	  DSO_FILE, FAMILY_LIBC },
	{ "/lib/ld-musl-x86_64.so.1", 5, true, "/lib/ld-musl-x86_64.so.1", DSO_FILE, FAMILY_LIBC },
	{ "/usr/lib/libfoo.so.1.2", 5, true, "/usr/lib/libfoo.so.1.2", DSO_FILE, FAMILY_LIBRARY },
	{ "/x/libfoo.so (deleted)", 5, true, "/x/libfoo.so (deleted)", DSO_FILE, FAMILY_LIBRARY },
	{ "/opt/my.sort", 5, true, "/opt/my.sort", DSO_FILE, FAMILY_PROGRAM },
	{ "/tmp/jitted-812-3.so", 5, true, "/tmp/jitted-812-3.so", DSO_FILE, FAMILY_JIT },
	{ "[kernel.kallsyms]_text", -1, true, "[kernel.kallsyms]", DSO_KERNEL, FAMILY_KERNEL },
	{ "[nf_tables]", -1, true, "[nf_tables]", DSO_KMODULE, FAMILY_KERNEL },
	{ "/lib/modules/6.1/ext4.ko.xz", -1, true, "/lib/modules/6.1/ext4.ko.xz", DSO_KMODULE,
	  FAMILY_KERNEL },
	{ "bpf_prog_1cbc7de961fe8a38_my_filter", -1, true, "bpf_prog_1cbc7de961fe8a38_my_filter",
	  DSO_KSYMBOL, FAMILY_KERNEL },
	{ "/srv/game/x", 0, true, "/srv/game/x", DSO_FILE, FAMILY_PROGRAM },
	{ "/tmp/jit-12.dump", 5, true, "/tmp/jit-12.dump", DSO_JIT_DUMP, FAMILY_JIT },
	{ "/tmp/jit-x.dump", 5, true, "/tmp/jit-x.dump", DSO_FILE, FAMILY_PROGRAM },
	{ "[vdso]", 5, true, "[vdso]", DSO_VDSO, FAMILY_LIBC },
	{ "[vsyscall]", 5, true, "[vsyscall]", DSO_NOTHING, FAMILY_KERNEL },
	{ "//anon", 77, true, "/tmp/perf-77.map", DSO_JIT, FAMILY_JIT },
	{ "//anon", 77, false, "//anon", DSO_NOTHING, FAMILY_JIT },
	{ "", 77, true, "/tmp/perf-77.map", DSO_JIT, FAMILY_JIT },
	{ "[heap]", 77, true, "/tmp/perf-77.map", DSO_JIT, FAMILY_JIT },
	{ "/memfd:doublemapper (deleted)", 77, true, "/memfd:doublemapper (deleted)", DSO_FILE,
	  FAMILY_JIT },
	{ "/dev/zero (deleted)", 77, true, "/tmp/perf-77.map", DSO_JIT, FAMILY_JIT },
};

Test(dso, is_classified_by_its_path)
{
	struct dso_table *t = dso_table_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mapping_event m = { .path = rows[i].recorded,
					   .pid = rows[i].pid,
					   .executable = rows[i].executable,
					   .start = 0x1000,
					   .file_offset = 0x100 };
		uint64_t bias;
		uint32_t id = dso_table_add(t, &m, &bias);
		struct dso d = dso_table_get(t, id);

		cr_expect_str_eq(d.path, rows[i].path);
		cr_expect_eq(d.kind, rows[i].kind, "%s", rows[i].recorded);
		cr_expect_eq(d.family, rows[i].family, "%s", rows[i].recorded);
		cr_expect_eq(dso_table_add(t, &m, &bias), id, "%s", rows[i].recorded);
	}
	dso_table_free(t);
}

Test(dso, header_build_ids_find_their_files)
{
	static const uint8_t bytes[20] = {
		0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	};
	struct build_id id = build_id_of(bytes, 20);
	struct dso_table *t = dso_table_new();
	struct mapping_event file = { .path = "/bin/x", .pid = 3, .executable = true };
	struct mapping_event kernel = { .path = "[kernel.kallsyms]_stext", .pid = -1 };
	struct mapping_event module = { .path = "/lib/modules/6.1/snd-pcm.ko.zst", .pid = -1 };
	uint64_t bias;
	uint32_t late;

	dso_table_build_id(t, "/bin/x", &id, false);
	dso_table_build_id(t, "/usr/lib/debug/boot/vmlinux-6.1", &id, true);
	dso_table_build_id(t, "[snd_pcm]", &id, true);
	cr_expect(build_id_equal(&id, &(struct build_id){ 0 }) == false, "unknown equals nothing");
	cr_expect_eq(dso_table_get(t, dso_table_add(t, &file, &bias)).build_id.n, 16);
	cr_expect_eq(dso_table_get(t, dso_table_add(t, &kernel, &bias)).build_id.n, 16);
	cr_expect_eq(dso_table_get(t, dso_table_add(t, &module, &bias)).build_id.n, 16);
	file.path = "/bin/late";
	late = dso_table_add(t, &file, &bias);
	cr_expect_eq(dso_table_get(t, late).build_id.n, 0);
	dso_table_build_id(t, "/bin/late", &id, false);
	cr_expect_eq(dso_table_get(t, late).build_id.n, 16, "pipes tell it at the end");
	dso_table_free(t);
}

Test(build_id, padding_does_not_count)
{
	static const uint8_t long_bytes[20] = { 1, 2,  3,  4,  5,  6,  7,  8,
						9, 10, 11, 12, 13, 14, 15, 16 };
	struct build_id padded = { .n = 20 }, plain = { .n = 16 };
	char hex[BUILD_ID_HEX_BYTES];

	memcpy(padded.bytes, long_bytes, 20);
	memcpy(plain.bytes, long_bytes, 16);
	cr_expect(build_id_equal(&padded, &plain));
	cr_expect_str_eq(build_id_hex(hex, &plain), "0102030405060708090a0b0c0d0e0f10");
	plain.bytes[3]++;
	cr_expect_not(build_id_equal(&padded, &plain));
	cr_expect_str_eq(build_id_hex(hex, &(struct build_id){ .n = 0 }), "");
}

Test(build_id, is_found_among_notes)
{
	/* A stapsdt-like note, then the build-id, unpadded at the end. */
	static const uint8_t notes[] = { 4,   0,   0, 0, 2, 0, 0,   0,   1,   0, 0, 0, 'F',
					 'o', 'o', 0, 9, 9, 0, 0,   4,   0,   0, 0, 3, 0,
					 0,   0,   3, 0, 0, 0, 'G', 'N', 'U', 0, 7, 8, 9 };
	struct build_id id = { .n = 0 };

	cr_assert(build_id_from_notes(notes, sizeof(notes), false, &id));
	cr_assert_eq(id.n, 3);
	cr_assert_eq(id.bytes[2], 9);
	for (size_t n = 0; n < sizeof(notes); n++)
		cr_assert_not(build_id_from_notes(notes, n, false, &id), "cut at %zu", n);
	cr_assert_not(build_id_from_notes(notes, sizeof(notes), true, &id), "other byte order");
}
