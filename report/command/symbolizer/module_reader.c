#define _GNU_SOURCE 1
#include "report/command/symbolizer/module_reader.h"

#include "report/command/say.h"
#include "report/command/symbolizer/function_table.h"

#include <stdlib.h>

#define UNPACKED_MAX_BYTES (UINT64_C(256) << 20)

struct sc_module_reader {
    const struct sc_module_sought *sought;
    struct sc_elf_file module, debug, alternate;
    struct sc_function_table functions;
    bool has_tried_lines;
    struct sc_source_lines *lines; /* NULL: none */
    uint64_t lines_begin;          /* the first address, as the file that has them numbers it */
};

/* Returns the file with the debug information; NULL if neither has any. */
static struct sc_elf_file *file_with_lines(struct sc_module_reader *reader)
{
    if (sc_elf_file_has_debug_info(&reader->module))
        return &reader->module;
    bool has = reader->debug.path && sc_elf_file_has_debug_info(&reader->debug);
    return has ? &reader->debug : NULL;
}

/* Returns the lowest address that is loaded, from which offsets count: that of the file, or of the
 * module if the debug file has no segments. (Addresses in the two agree, unless the module was
 * changed after it was stripped.) */
static uint64_t first_address(const struct sc_module_reader *reader, const struct sc_elf_file *file)
{
    return file->has_segments ? file->first_address : reader->module.first_address;
}

/* Adds the names of the debug file, where the module has not all itself. */
static void read_debug_file(struct sc_module_reader *reader)
{
    struct sc_elf_file *debug = &reader->debug;
    bool needs_none =
        sc_elf_file_has_debug_info(&reader->module) && sc_elf_file_has_symbols(&reader->module);
    if (!needs_none && sc_debug_files_open_debug(debug, &reader->module, reader->sought))
        sc_function_table_add(&reader->functions, debug, first_address(reader, debug));
}

/* Opens a module to read names and lines from. Returns NULL if it has neither. */
struct sc_module_reader *sc_module_reader_open(const struct sc_module_sought *sought)
{
    struct sc_module_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->sought = sought;
    reader->module.fd = reader->debug.fd = reader->alternate.fd = -1;
    if (sc_debug_files_open_module(&reader->module, sought)) {
        sc_function_table_add(&reader->functions, &reader->module, reader->module.first_address);
        read_debug_file(reader);
    }
    if (reader->module.path && (reader->functions.count > 0 || file_with_lines(reader)))
        return reader;
    sc_module_reader_close(reader);
    return NULL;
}

/* Closes all files of the module. */
void sc_module_reader_close(struct sc_module_reader *reader)
{
    sc_source_lines_close(reader->lines);
    sc_function_table_free(&reader->functions);
    sc_elf_file_close(&reader->alternate);
    sc_elf_file_close(&reader->debug);
    sc_elf_file_close(&reader->module);
    free(reader);
}

/* Returns the function that a return address at this offset belongs to: the byte before is looked
 * up, since a call may be its function's last instruction. */
const char *sc_module_reader_name(struct sc_module_reader *reader, uint64_t offset)
{
    return sc_function_table_find(&reader->functions, offset - 1);
}

/* ---- lines ---- */

/* Would reading lines take too much memory? libdw unpacks all sections at once. */
static bool is_too_much(const struct sc_elf_file *file)
{
    if (sc_elf_file_unpacked_size(file) <= UNPACKED_MAX_BYTES)
        return false;
    sc_say("%s: its debug information has more than 256 MB when it is unpacked; it is shown "
           "without lines of source",
           file->path);
    return true;
}

/* Opens the lines, unless they are too large to be read. */
static void open_lines(struct sc_module_reader *reader)
{
    struct sc_elf_file *file = file_with_lines(reader), *alternate = &reader->alternate;
    if (!file || is_too_much(file))
        return;
    if (sc_debug_files_open_alternate(alternate, file, reader->sought) && is_too_much(alternate))
        sc_elf_file_close(alternate);
    reader->lines = sc_source_lines_open(file->path, file->elf, alternate->elf);
    reader->lines_begin = first_address(reader, file);
}

/* Returns the places in the source of a return address: that of its function, and of those inlined
 * there. Returns 0 if it is unknown. */
size_t sc_module_reader_places(struct sc_module_reader *reader, uint64_t offset,
                               struct sc_source_place *places)
{
    if (!reader->has_tried_lines)
        open_lines(reader);
    reader->has_tried_lines = true;
    return reader->lines
               ? sc_source_lines_find(reader->lines, reader->lines_begin + offset - 1, places)
               : 0;
}
