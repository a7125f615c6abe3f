#include "report/frame_kinds.h"

#include "report/path.h"
#include "report/report.h"
#include "report/suppressions.h"
#include "track/stacks.h"

#include <stddef.h>
#include <string.h>

#include "common/poison.h"

enum { runtime = SC_FRAME_RUNTIME, library = SC_FRAME_LIBRARY, user = SC_FRAME_USER };

struct row {
    enum sc_frame_kind kind;
    struct sc_part pattern;
};

/* Returns the kind of the first row whose pattern matches; a name that no row knows is the user's.
 */
static enum sc_frame_kind first_match(const struct row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (sc_suppressions_glob(rows[i].pattern, name))
            return rows[i].kind;
    }
    return SC_FRAME_USER;
}

#define ROW(kind, pattern) {(enum sc_frame_kind)kind, {pattern, sizeof pattern - 1}},

/* Returns whose code a loaded module is, by the name of its file alone: the folder differs from
 * machine to machine. */
enum sc_frame_kind sc_frame_kind_of_module(const char *path)
{
    static const struct row rows[] = {
#define SC_FRAME_MODULE ROW
#include "report/frame_kinds.def"
    };
    return first_match(rows, sizeof rows / sizeof rows[0], sc_path_base(path));
}

/* Returns whose code a function is. For a CUDA runtime that is linked into the program, where the
 * module's name tells only the program's. */
enum sc_frame_kind sc_frame_kind_of_function(const char *symbol)
{
    static const struct row rows[] = {
#define SC_FRAME_FUNCTION ROW
#include "report/frame_kinds.def"
    };
    return first_match(rows, sizeof rows / sizeof rows[0], symbol);
}

/* Returns whose code a module or a Python file is, by its path, which needs no NUL. The patterns
 * of file names are tried before those of whole paths. A path that does not fit is cut. */
enum sc_frame_kind sc_frame_kind_of_path(const char *path, size_t bytes)
{
    static const struct row rows[] = {
#define SC_FRAME_PATH ROW
#include "report/frame_kinds.def"
    };
    char name[1024];
    size_t length = bytes < sizeof name ? bytes : sizeof name - 1;
    memcpy(name, path, length);
    name[length] = '\0';
    enum sc_frame_kind kind = sc_frame_kind_of_module(name);
    if (kind != SC_FRAME_USER)
        return kind;
    return first_match(rows, sizeof rows / sizeof rows[0], name);
}

/* Returns whose code the return address lies in. A Python frame counts as the user's, and so does
 * an address in no module, which is mostly code that the program has generated. */
static enum sc_frame_kind kind_of_return_address(const void *pc)
{
    struct sc_report_frame frame;
    sc_report_symbolise(pc, &frame);
    return frame.is_python || !frame.module ? SC_FRAME_USER : sc_frame_kind_of_module(frame.module);
}

/* Returns whose code called CUDA: the kind of the innermost frame that is not the runtime's or
 * libc's. */
enum sc_frame_kind sc_frame_kind_of_stack(uint32_t stack)
{
    void *const *frames;
    enum sc_frame_kind kind = SC_FRAME_RUNTIME;
    unsigned count = stack != 0 ? sc_stacks_get(stack, &frames) : 0;
    for (unsigned i = 0; i < count && kind == SC_FRAME_RUNTIME; i++)
        kind = kind_of_return_address(frames[i]);
    return kind;
}
