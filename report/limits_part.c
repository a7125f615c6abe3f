#include "report/limits_part.h"

#include "report/json.h"
#include "track/text.h"

#include "track/poison.h"

void sc_limits_part_name(const struct sc_limit_events *limits, struct sc_limits_part *part)
{
    part->limits = limits;
    for (unsigned i = 0; i < limits->count; i++)
        sc_json_lines_name_stack(limits->events[i].stack, &part->stacks[i]);
}

static void put_author(struct sc_text *line, const struct sc_limit_event *event)
{
    static const char *const words[] = {"program", "option", "launch"};
    sc_json_string(line, "by", words[event->by]);
    if (event->by == SC_LIMIT_BY_LAUNCH) {
        sc_json_string(line, "kernel", event->kernel[0] != '\0' ? event->kernel : NULL);
        return;
    }
    sc_json_number(line, "asked", event->asked);
    sc_json_signed(line, "result", event->result);
}

static void put_event(struct sc_text *line, const struct sc_limit_event *event,
                      const struct sc_json_lines_stack *stack, size_t reserve)
{
    sc_json_open(line, NULL, '{');
    put_author(line, event);
    sc_json_string(line, "limit", sc_limit_events_word(event->limit));
    sc_json_number(line, "in_force", event->in_force);
    sc_json_signed(line, "device", event->device);
    sc_json_hex(line, "context", event->context);
    if (event->context_ended)
        sc_json_true(line, "context_ended");
    sc_json_string(line, "api", event->api);
    if (event->runtime_api)
        sc_json_string(line, "runtime_api", event->runtime_api);
    sc_json_signed(line, "thread", event->thread);
    sc_json_number(line, "time_ns", event->time_ns);
    sc_json_lines_put_stack(line, stack, reserve);
    sc_json_close(line, '}');
}

void sc_limits_part_put(struct sc_text *line, const struct sc_limits_part *part)
{
    size_t reserve = (line->size - line->used) / 2;
    sc_json_open(line, "limits", '{');
    sc_json_open(line, "events", '[');
    for (unsigned i = 0; i < part->limits->count; i++)
        put_event(line, &part->limits->events[i], &part->stacks[i], reserve);
    sc_json_close(line, ']');
    sc_json_number(line, "events_left_out", part->limits->left_out);
    sc_json_close(line, '}');
}
