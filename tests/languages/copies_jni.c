/* What Copies.java cannot do without C. */
#include <jni.h>

#include "by_name.h"

static JavaVM *machine;

static jlong call(JNIEnv *java, jclass class, jstring name, jlongArray arguments)
{
    long words[6] = {0};
    const char *text = (*java)->GetStringUTFChars(java, name, NULL);
    (void)class;
    (*java)->GetLongArrayRegion(java, arguments, 0, (*java)->GetArrayLength(java, arguments),
                                (jlong *)words);
    long result = call_by_name(text, words);
    (*java)->ReleaseStringUTFChars(java, name, text);
    return result;
}

static jobject memory(JNIEnv *java, jclass class, jlong address, jlong size)
{
    (void)class;
    return (*java)->NewDirectByteBuffer(java, (void *)address, size);
}

/* By a thread of the driver's. */
static void call_back(void *class)
{
    JNIEnv *java;
    if ((*machine)->AttachCurrentThread(machine, (void **)&java, NULL) != JNI_OK)
        abort();
    jmethodID called = (*java)->GetStaticMethodID(java, class, "called", "()V");
    (*java)->CallStaticVoidMethod(java, class, called);
    (*machine)->DetachCurrentThread(machine);
}

static jlong launch(JNIEnv *java, jclass class, jlong stream)
{
    long class_for_all = (long)(*java)->NewGlobalRef(java, class);
    return call_by_name("cudaLaunchHostFunc", (long[6]){stream, (long)call_back, class_for_all});
}

JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *unused)
{
    JNIEnv *java;
    (void)unused;
    machine = vm;
    if ((*vm)->GetEnv(vm, (void **)&java, JNI_VERSION_1_8) != JNI_OK)
        return JNI_ERR;
    JNINativeMethod methods[] = {
        {"call", "(Ljava/lang/String;[J)J", (void *)call},
        {"memory", "(JJ)Ljava/nio/ByteBuffer;", (void *)memory},
        {"launch", "(J)J", (void *)launch},
    };
    jclass class = (*java)->FindClass(java, "Copies");
    (*java)->RegisterNatives(java, class, methods, sizeof methods / sizeof methods[0]);
    return JNI_VERSION_1_8;
}
