#include "report/frame_kinds.h"

#include "report/path.h"
#include "report/report.h"
#include "report/suppressions.h"
#include "track/stacks.h"

#include <stddef.h>

#include "track/poison.h"

enum { runtime = SC_FRAME_RUNTIME, library = SC_FRAME_LIBRARY };

enum sc_frame_kind sc_frame_kind_of_module(const char *path)
{
    static const struct {
        enum sc_frame_kind kind;
        struct sc_part pattern;
    } rows[] = {
#define SC_FRAME_MODULE(kind, pattern) {(enum sc_frame_kind)kind, {pattern, sizeof pattern - 1}},
#include "report/frame_kinds.def"
    };
    const char *name = sc_path_base(path);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (sc_suppressions_glob(rows[i].pattern, name))
            return rows[i].kind;
    }
    return SC_FRAME_USER;
}

static enum sc_frame_kind kind_of(const void *pc)
{
    struct sc_report_frame frame;
    sc_report_symbolise(pc, &frame);
    return frame.is_python || !frame.module ? SC_FRAME_USER : sc_frame_kind_of_module(frame.module);
}

enum sc_frame_kind sc_frame_kind_of_stack(uint32_t stack)
{
    void *const *frames;
    enum sc_frame_kind kind = SC_FRAME_RUNTIME;
    unsigned count = stack != 0 ? sc_stacks_get(stack, &frames) : 0;
    for (unsigned i = 0; i < count && kind == SC_FRAME_RUNTIME; i++)
        kind = kind_of(frames[i]);
    return kind;
}
