/* links: interpose/base/python_walk.c interpose/base/python_layout.c
 * not-under: qemu (which has no process_vm_readv)
 *
 * Python frames out of memory that looks like an interpreter's, or like nothing at all. Real
 * interpreters are walked by tests/python_frames.py; of some versions there may be none.
 */
#include "interpose/base/python_layout.h"
#include "interpose/base/python_walk.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "track/python_codes.h"

enum {
    VERSION_3_13 = 0x30D00F0,
    VERSION_3_14 = 0x30E00F0,
    VERSION_3_15 = 0x30F00F0,
    WORDS_MAX = 2 * 8,
    HEAD = 32, /* of an object without a GIL */
    NAMES = 3,
};

/* What an interpreter without a GIL, of 3.14, might have; the places are invented. */
static struct {
    uint64_t words[128];
} runtime;
static struct {
    char type[128];
    char thread[256];
    char frames[5][128];
    char codes[NAMES][256];
    char table[64];
    char names[2 * NAMES][128];
    uint64_t copies[3];
    uint16_t copy[32];
} image;

static const char code_name[] = "code";

static void put_word(char *object, size_t offset, uint64_t word)
{
    memcpy(object + offset, &word, sizeof word);
}

static void put_int(char *object, size_t offset, int32_t number)
{
    memcpy(object + offset, &number, sizeof number);
}

enum {
    THREAD_FRAME = 80,
    FRAME_CODE = 0,
    FRAME_PREVIOUS = 8,
    FRAME_INSTRUCTION = 56,
    FRAME_COPY = 72,
    FRAME_OWNER = 78,
    CODE_FIRST_LINE = HEAD + 52,
    CODE_FILE = HEAD + 96,
    CODE_FUNCTION = HEAD + 112,
    CODE_TABLE = HEAD + 120,
    CODE_COPIES = HEAD + 152,
    CODE_INSTRUCTIONS = HEAD + 200,
    TYPE_NAME = HEAD + 8,
    BYTES_DATA = HEAD + 16,
    STRING_STATE = HEAD + 16,
    STRING_ASCII = HEAD + 24,
};

/* Which word of _Py_DebugOffsets has what, from 3.13 on. */
static const struct words {
    unsigned thread_frame, frame, code, object_type, type_name, bytes, string;
} all_words[] = {
    {23, 28, 34, 45, 47, 64, 67}, /* 3.13 */
    {26, 31, 39, 51, 53, 74, 77}, /* 3.14 */
    {26, 39, 47, 59, 61, 86, 89}, /* 3.15 */
};

static void make_runtime(uint32_t version, bool free_threaded)
{
    uint64_t *words = runtime.words;
    const struct words *at = &all_words[(version >> 16) - (VERSION_3_13 >> 16)];
    uint64_t *frame = words + at->frame, *code = words + at->code;
    bool has_copies = version != VERSION_3_13 && free_threaded;
    memset(&runtime, 0, sizeof runtime);
    memcpy(words, "xdebugpy", 8);
    words[1] = version;
    words[2] = free_threaded;
    words[at->thread_frame] = THREAD_FRAME;
    frame[1] = FRAME_PREVIOUS;
    frame[2] = FRAME_CODE;
    frame[3] = FRAME_INSTRUCTION;
    frame[5] = FRAME_OWNER;
    if (has_copies)
        frame[7] = FRAME_COPY;
    code[1] = CODE_FILE;
    code[3] = CODE_FUNCTION;
    code[4] = CODE_TABLE;
    code[5] = CODE_FIRST_LINE;
    code[9] = CODE_INSTRUCTIONS;
    if (has_copies)
        code[10] = CODE_COPIES;
    words[at->object_type] = 24;
    words[at->type_name] = TYPE_NAME;
    words[at->bytes + 1] = HEAD;
    words[at->bytes + 2] = BYTES_DATA;
    words[at->string + 1] = STRING_STATE;
    words[at->string + 2] = HEAD;
    words[at->string + 3] = STRING_ASCII;
}

/* Characters of one byte are ASCII; of two they are not. */
static char *make_string(unsigned index, const void *characters, size_t count, unsigned width,
                         unsigned shift)
{
    char *string = image.names[index];
    put_word(string, HEAD, count);
    put_int(string, STRING_STATE, (int32_t)((width | 8 | (width == 1 ? 16 : 0)) << shift));
    memcpy(string + STRING_ASCII + (width == 1 ? 0 : 16), characters, count * width);
    return string;
}

static void make_code(unsigned index, int32_t first_line, char *file, char *function)
{
    char *code = image.codes[index];
    put_word(code, 24, (uintptr_t)image.type);
    put_word(code, CODE_FILE, (uintptr_t)file);
    put_word(code, CODE_FUNCTION, (uintptr_t)function);
    put_word(code, CODE_TABLE, (uintptr_t)image.table);
    put_word(code, CODE_COPIES, (uintptr_t)image.copies);
    put_int(code, CODE_FIRST_LINE, first_line);
}

/* `unit`: which instruction, by twos. An owner from 3 on makes a frame of the loop's own. */
static void make_frame(unsigned index, unsigned code, uintptr_t first, unsigned unit, char owner)
{
    char *frame = image.frames[index];
    put_word(frame, FRAME_CODE, (uintptr_t)image.codes[code] | 1);
    put_word(frame, FRAME_PREVIOUS, index < 4 ? (uintptr_t)image.frames[index + 1] : 0);
    put_word(frame, FRAME_INSTRUCTION, first + (uintptr_t)2 * unit);
    frame[FRAME_OWNER] = owner;
}

static uintptr_t instructions(unsigned code)
{
    return (uintptr_t)image.codes[code] + CODE_INSTRUCTIONS;
}

/* step, helper; a shim; main; a shim. Instruction n of a code is in the n-th line after its first.
 */
static void make_image(unsigned shift)
{
    static const uint16_t wide[] = {'h', 0xE4, 0x4E16, 0xD83D};
    char *file = make_string(0, "/opt/app/train.py", 17, 1, shift);
    char *step = make_string(1, "Model.step", 10, 1, shift);
    char *helper = make_string(2, wide, 3, 2, shift);
    char *module = make_string(3, "<module>", 8, 1, shift);
    put_word(image.type, TYPE_NAME, (uintptr_t)code_name);
    put_word(image.table, HEAD, 16);
    for (unsigned i = 0; i < 8; i++) {
        image.table[BYTES_DATA + 2 * i] = (char)(0x80 | 13 << 3);
        image.table[BYTES_DATA + 2 * i + 1] = i > 0 ? 2 : 0;
    }
    make_code(0, 10, file, step);
    make_code(1, 20, file, helper);
    make_code(2, 30, file, module);
    image.copies[0] = 2;
    image.copies[1] = instructions(1);
    image.copies[2] = (uintptr_t)image.copy;
    make_frame(0, 0, instructions(0), 3, 0);
    make_frame(1, 1, instructions(1), 2, 1);
    make_frame(2, 0, 0, 0, 3);
    make_frame(3, 2, instructions(2), 7, 0);
    make_frame(4, 0, 0, 0, 3);
    put_word(image.thread, THREAD_FRAME, (uintptr_t)image.frames[0]);
}

static void check_frame(const void *word, const char *function, int32_t line)
{
    struct sc_python_frame frame;
    ck_assert(sc_python_codes_frame(word, &frame));
    ck_assert_uint_eq(frame.file_bytes, strlen("/opt/app/train.py"));
    ck_assert(memcmp(frame.file, "/opt/app/train.py", frame.file_bytes) == 0);
    ck_assert_uint_eq(frame.function_bytes, strlen(function));
    ck_assert(memcmp(frame.function, function, frame.function_bytes) == 0);
    ck_assert_int_eq(frame.line, line);
}

static void check_walk(struct sc_python_layout *layout)
{
    void *words[WORDS_MAX];
    uintptr_t state = (uintptr_t)image.thread;
    ck_assert_uint_eq(sc_python_walk_words(layout, state, words, WORDS_MAX / 2), 5);
    check_frame(words[0], "Model.step", 13);
    check_frame(words[1], "h\u00e4\u4e16", 22);
    ck_assert_ptr_null(words[2]);
    check_frame(words[3], "<module>", 37);
    ck_assert_ptr_null(words[4]);
    uint64_t key = sc_python_walk_key(layout, state, WORDS_MAX / 2);
    ck_assert_uint_ne(key, 0);
    put_word(image.frames[3], FRAME_INSTRUCTION, instructions(2));
    ck_assert(sc_python_walk_key(layout, state, WORDS_MAX / 2) != key);
}

START_TEST(frames_of_3_14)
{
    struct sc_python_layout layout;
    make_runtime(VERSION_3_14, false);
    make_image(2);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&runtime));
    check_walk(&layout);
}
END_TEST

/* A thread without a GIL may run a copy of a code. */
START_TEST(frames_of_3_14_without_a_gil)
{
    struct sc_python_layout layout;
    make_runtime(VERSION_3_14, true);
    make_image(8);
    make_frame(1, 1, (uintptr_t)image.copy, 2, 1);
    put_int(image.frames[1], FRAME_COPY, 1);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&runtime));
    check_walk(&layout);
}
END_TEST

START_TEST(frames_of_3_15)
{
    struct sc_python_layout layout;
    make_runtime(VERSION_3_15, false);
    make_image(2);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_15, (uintptr_t)&runtime));
    check_walk(&layout);
}
END_TEST

START_TEST(frames_of_3_13_without_a_gil)
{
    struct sc_python_layout layout;
    make_runtime(VERSION_3_13, true);
    make_image(2);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_13, (uintptr_t)&runtime));
    check_walk(&layout);
}
END_TEST

START_TEST(no_more_frames_than_are_wanted)
{
    struct sc_python_layout layout;
    void *words[2] = {NULL, NULL};
    make_runtime(VERSION_3_14, false);
    make_image(2);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&runtime));
    ck_assert_uint_eq(sc_python_walk_words(&layout, (uintptr_t)image.thread, words, 1), 1);
    check_frame(words[0], "Model.step", 13);
    ck_assert_uint_eq(sc_python_walk_words(&layout, (uintptr_t)image.thread, words, 0), 0);
}
END_TEST

/* Another code at the address of one that is gone, and the same one met again. */
START_TEST(a_code_is_more_than_its_address)
{
    struct sc_python_layout layout;
    void *words[WORDS_MAX], *again[WORDS_MAX];
    make_runtime(VERSION_3_14, false);
    make_image(2);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&runtime));
    uintptr_t state = (uintptr_t)image.thread;
    sc_python_walk_words(&layout, state, words, WORDS_MAX / 2);
    sc_python_walk_words(&layout, state, again, WORDS_MAX / 2);
    ck_assert_ptr_eq(words[0], again[0]);
    put_int(image.codes[0], CODE_FIRST_LINE, 100);
    sc_python_walk_words(&layout, state, again, WORDS_MAX / 2);
    check_frame(again[0], "Model.step", 103);
    check_frame(words[0], "Model.step", 13);
}
END_TEST

START_TEST(layouts_that_are_not_known)
{
    struct sc_python_layout layout;
    make_runtime(VERSION_3_14, false);
    ck_assert(!sc_python_layout_make(&layout, 0x30800F0, 0));
    ck_assert(!sc_python_layout_make(&layout, 0x31000A0, (uintptr_t)&runtime));
    ck_assert(!sc_python_layout_make(&layout, VERSION_3_14, 0));
    ck_assert(!sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&image));
    ck_assert(!sc_python_layout_make(&layout, VERSION_3_13, (uintptr_t)&runtime));
    runtime.words[32] = 1 << 20; /* the frame before a frame */
    ck_assert(!sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&runtime));
    ck_assert(sc_python_layout_make(&layout, 0x30900F0, 0));
    ck_assert(sc_python_layout_make(&layout, 0x30C00F0, 0));
}
END_TEST

/* Whatever lies where a layout says that something is, the walk ends. */
START_TEST(a_wrong_layout_does_no_harm)
{
    enum { ROUNDS = 2000, PAGE = 4096 };
    static const uint32_t versions[] = {0x30900F0, 0x30A00F0, 0x30B00F0, 0x30C00F0, VERSION_3_14};
    void *words[WORDS_MAX];
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    munmap(pages + PAGE, PAGE);
    uint64_t *garbage = (uint64_t *)(void *)pages;
    srandom(1);
    make_runtime(VERSION_3_14, true);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct sc_python_layout layout;
        ck_assert(sc_python_layout_make(&layout, versions[round % 5], (uintptr_t)&runtime));
        for (unsigned i = 0; i < PAGE / 8; i++)
            garbage[i] = random() % 4 ? (uintptr_t)pages + (uintptr_t)random() % PAGE
                                      : (uint64_t)random() << 17;
        unsigned count = sc_python_walk_words(
            &layout, (uintptr_t)pages + (uintptr_t)random() % PAGE, words, WORDS_MAX / 2);
        ck_assert_uint_le(count, WORDS_MAX);
        ck_assert_uint_eq(layout.code_type, 0);
    }
    munmap(pages, PAGE);
}
END_TEST

/* A type that says it is that of codes, in front of names and tables that are anything. */
START_TEST(broken_names_and_tables_do_no_harm)
{
    struct sc_python_layout layout;
    void *words[WORDS_MAX];
    make_runtime(VERSION_3_14, false);
    ck_assert(sc_python_layout_make(&layout, VERSION_3_14, (uintptr_t)&runtime));
    srandom(2);
    for (unsigned round = 0; round < 1000; round++) {
        make_image(2);
        put_word(image.names[random() % 6], (size_t)random() % 64, (uint64_t)random() << 20);
        put_word(image.table, (size_t)random() % 40, (uint64_t)random() << (random() % 40));
        put_word(image.codes[random() % 3], CODE_FILE + (size_t)random() % 32, (uint64_t)random());
        unsigned count =
            sc_python_walk_words(&layout, (uintptr_t)image.thread, words, WORDS_MAX / 2);
        for (unsigned i = 0; i < count; i++) {
            struct sc_python_frame frame;
            ck_assert(!words[i] || sc_python_codes_frame(words[i], &frame));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("python_walk");
    TCase *group = tcase_create("python_walk");
    tcase_add_test(group, frames_of_3_14);
    tcase_add_test(group, frames_of_3_15);
    tcase_add_test(group, frames_of_3_14_without_a_gil);
    tcase_add_test(group, frames_of_3_13_without_a_gil);
    tcase_add_test(group, no_more_frames_than_are_wanted);
    tcase_add_test(group, a_code_is_more_than_its_address);
    tcase_add_test(group, layouts_that_are_not_known);
    tcase_add_test(group, a_wrong_layout_does_no_harm);
    tcase_add_test(group, broken_names_and_tables_do_no_harm);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
