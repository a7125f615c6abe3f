#include "report/users_frames.h"

#include "common/hazard.h"
#include "report/frame_kinds.h"
#include "report/json_lines.h"

#include <string.h>

#include "common/poison.h"

/* Mixes a value into a hash. */
static uint64_t mix_into(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Mixes a string and its length into a hash: with the length "ab", "c" differs from "a", "bc". */
static uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = mix_into(hash, (unsigned char)bytes[i]);
    return mix_into(hash, count);
}

/* Mixes a Python frame into a hash: its file, function and line. */
static uint64_t mix_python(uint64_t hash, const struct sc_python_frame *frame)
{
    hash = mix_bytes(hash, frame->file, frame->file_bytes);
    hash = mix_bytes(hash, frame->function, frame->function_bytes);
    return mix_into(hash, (uint64_t)frame->line);
}

/* Does the frame run code of the user's own, and not of a library, an interpreter or CUDA? */
static bool is_user_frame(const struct sc_report_frame *frame)
{
    const struct sc_python_frame *python = &frame->python;
    if (frame->is_python)
        return sc_frame_kind_of_path(python->file, python->file_bytes) == SC_FRAME_USER;
    return frame->module &&
           sc_frame_kind_of_path(frame->module, strlen(frame->module)) == SC_FRAME_USER;
}

/* Mixes the user's frames of one side of a hazard (the operation, or the event) into the hash: by
 * them people tell places apart, whatever library calls lie between. A side without such frames
 * counts by its whole stack and its function. */
static uint64_t mix_side(uint64_t hash, const struct sc_json_lines_stack *stack, uint32_t id,
                         const char *api)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < stack->count; i++) {
        const struct sc_report_frame *frame = &stack->frames[i];
        if (!is_user_frame(frame))
            continue;
        hash = frame->is_python ? mix_python(hash, &frame->python)
                                : mix_into(mix_into(hash, frame->base), frame->offset);
        count++;
    }
    if (count == 0)
        hash = mix_bytes(mix_into(hash, id), api, strlen(api));
    return mix_into(hash, count);
}

/* Returns a hash of the place in the user's code where the hazard happened: of its code and of the
 * user's frames on both sides. Hazards of one place are shown as one. That a device has too little
 * room is a matter of its own for each device. Never 0, which means an unknown place. */
uint64_t sc_users_frames_hash(const struct sc_hazard *hazard,
                              const struct sc_json_lines_stacks *stacks)
{
    uint64_t device = hazard->room_bytes ? (uint64_t)hazard->copy.device : 0;
    uint64_t hash = mix_into(mix_into(1, hazard->code), device);
    hash = mix_side(hash, &stacks->copy, hazard->copy.stack, hazard->copy.api);
    hash = mix_side(hash, &stacks->event, hazard->event.stack, hazard->event.api);
    return hash != 0 ? hash : 1;
}
