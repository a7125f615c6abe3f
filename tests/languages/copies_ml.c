/* What copies.ml cannot do without C. */
#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/bigarray.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <caml/threads.h>
#include <string.h>

#include "by_name.h"

/* Others may run OCaml meanwhile. */
value ml_call(value name, value arguments)
{
    CAMLparam2(name, arguments);
    long words[6] = {0};
    char text[64];
    strncpy(text, String_val(name), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < Wosize_val(arguments); i++)
        words[i] = Nativeint_val(Field(arguments, i));
    caml_release_runtime_system();
    long result = call_by_name(text, words);
    caml_acquire_runtime_system();
    CAMLreturn(caml_copy_nativeint(result));
}

value ml_memory(value address, value size)
{
    return caml_ba_alloc_dims(CAML_BA_UINT8 | CAML_BA_C_LAYOUT | CAML_BA_EXTERNAL, 1,
                              (void *)Nativeint_val(address), Long_val(size));
}

/* By a thread of the driver's. */
static void call_back(void *unused)
{
    (void)unused;
    caml_c_thread_register();
    caml_acquire_runtime_system();
    caml_callback(*caml_named_value("called"), Val_unit);
    caml_release_runtime_system();
    caml_c_thread_unregister();
}

value ml_launch(value stream)
{
    long result =
        call_by_name("cudaLaunchHostFunc", (long[6]){Nativeint_val(stream), (long)call_back});
    return caml_copy_nativeint(result);
}
