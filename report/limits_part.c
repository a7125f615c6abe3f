#include "report/limits_part.h"

#include "common/text.h"
#include "report/json.h"

#include "common/poison.h"

/* Names the stacks' frames before the report's lock is taken, since that needs the loader's
 * lock. */
void sc_limits_part_name(const struct sc_limit_events *limits, struct sc_limits_part *part)
{
    part->limits = limits;
    for (unsigned i = 0; i < limits->count; i++)
        sc_json_lines_name_stack(limits->events[i].stack, &part->stacks[i]);
    for (unsigned i = 0; i < limits->module_count; i++)
        sc_json_lines_name_stack(limits->modules[i].stack, &part->module_stacks[i]);
}

/* Writes who set or fixed the limit: the program's call or an option of the library's (with what
 * was asked and the driver's result), or the launch of a kernel. */
static void put_author(struct sc_text *line, const struct sc_limit_event *event)
{
    static const char *const words[] = {"program", "option", "launch"};
    sc_json_put(line, "by:%s", words[event->by]);
    if (event->by == SC_LIMIT_BY_LAUNCH)
        sc_json_put(line, "kernel~:%s", event->kernel);
    else
        sc_json_put(line, "asked:%lu result:%d", event->asked, event->result);
}

/* Appends one setting of a limit, or the launch that has fixed it. */
static void put_event(struct sc_text *line, const struct sc_limit_event *event,
                      const struct sc_json_lines_stack *stack, size_t reserve)
{
    sc_json_put(line, "{");
    put_author(line, event);
    sc_json_put(line,
                "limit:%s in_force:%lu device:%d context:%#lx context_ended?:%hhd api:%s "
                "runtime_api?:%s thread:%d time_ns:%lu",
                sc_limit_events_word(event->limit), event->in_force, event->device, event->context,
                event->context_ended, event->api, event->runtime_api, event->thread,
                event->time_ns);
    sc_json_lines_put_stack(line, stack, reserve);
    sc_json_put(line, "}");
}

/* Appends one module whose kernels call malloc on the device, and so use its heap. */
static void put_module(struct sc_text *line, const struct sc_limit_module *module,
                       const struct sc_json_lines_stack *stack, size_t reserve)
{
    sc_json_put(line,
                "{caller~:%s bytes:%lu device~:%d api:%s runtime_api?:%s thread:%d time_ns:%lu",
                module->caller, module->size_bytes, module->device, module->api,
                module->runtime_api, module->thread, module->time_ns);
    sc_json_lines_put_stack(line, stack, reserve);
    sc_json_put(line, "}");
}

/* Lists the modules that call malloc. Writes nothing where CUPTI reported none. */
static void put_modules(struct sc_text *line, const struct sc_limits_part *part, size_t reserve)
{
    if (!part->limits->module_count)
        return;
    sc_json_put(line, "modules:[");
    for (unsigned i = 0; i < part->limits->module_count; i++)
        put_module(line, &part->limits->modules[i], &part->module_stacks[i], reserve);
    sc_json_put(line, "] modules_left_out:%lu", part->limits->modules_left_out);
}

/* Appends the member `limits`. Each stack leaves half of the room, so that the member `memory`
 * behind it finds enough. */
void sc_limits_part_put(struct sc_text *line, const struct sc_limits_part *part)
{
    size_t reserve = (line->size - line->used) / 2;
    sc_json_put(line, "limits:{events:[");
    for (unsigned i = 0; i < part->limits->count; i++)
        put_event(line, &part->limits->events[i], &part->stacks[i], reserve);
    sc_json_put(line, "] events_left_out:%lu", part->limits->left_out);
    put_modules(line, part, reserve);
    sc_json_put(line, "}");
}
