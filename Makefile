# Builds everything under out/: see `make help`, and the 'Build' contract in docs/internals.md.
#
#   SAN=address|thread|undefined   an instrumented build, apart in out/SAN/
#   COVERAGE=1                     the same for gcov, in out/coverage/
#   DEBUG=1                        the same with checks and a trace of its own, in out/debug/
#   ARCH=aarch64                   the same for another processor, in out/aarch64/
#   WERROR=1 (implied by CI=...)   warnings are errors
#   V=1                            commands are shown
#
# Sources are found by wildcard, so a new file needs no line here. scripts/setup installs what is
# missing; only the goals that promise to work on a bare machine run it.

# Of -n, -q and -t, those that were given, with which nothing is installed or written here.
PRETENDS := $(strip $(foreach flag,n q t,$(findstring $(flag),$(firstword -$(MAKEFLAGS)))))
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all setup setup-all sim tests check check-ci check-all check-gpu demo bench aarch64 carry dist check-dist \
    install uninstall clean help

# Among make's arguments alone: other programs heed a variable of this name in their environment.
CHECKED := $(if $(filter 1,$(DEBUG)),$(if $(filter command,$(origin DEBUG)),debug))
ifneq ($(if $(CHECKED),$(SAN)$(ARCH)$(COVERAGE)),)
$(error DEBUG=1 is a build of its own, without SAN, ARCH and COVERAGE)
endif
VARIANT := $(or $(SAN),$(ARCH),$(if $(COVERAGE),coverage),$(CHECKED))
OUT     := out$(addprefix /,$(VARIANT))
OBJ     := $(OUT)/obj
SIM     := $(OUT)/sim
PREFIX  ?= /usr/local
Q       := $(if $(V),,@)
say      = $(if $(V),,$(info $(blank) $(1)$(blank)$@))
blank    := $(subst ,, )

SANITIZERS := address thread undefined
ifneq ($(filter-out $(SANITIZERS),$(SAN)),)
$(error SAN must be address, thread or undefined, not '$(SAN)')
endif

all:

# All processors are used, unless make's arguments, which win anyway, or its environment say how many.
# Beside other processes that want to run there are as many jobs as those, at most four to a processor,
# so that the build gets its half of the time.
# The shell is asked, since make 4.3 shows no -j in MAKEFLAGS while it reads. Several goals that do more
# than build are done one after the other, as they are named.
JOBS_TOLD := $(shell printf '%s\n' "$$MAKEFLAGS $$GNUMAKEFLAGS" | \
               grep -E '(^| )(-?[A-Za-z]*j[0-9]*( |$$)|--job)')
IN_ORDER  := $(if $(word 2,$(MAKECMDGOALS)),$(filter-out all sim tests out/%,$(MAKECMDGOALS)))
ifeq ($(JOBS_TOLD)$(IN_ORDER),)
MAKEFLAGS += -j$(or $(shell cores=$$(nproc 2>/dev/null || echo 1); jobs=$$cores; \
    read -r _ _ _ running _ 2>/dev/null </proc/loadavg && others=$$(($${running%/*} - 1)) && \
    [ $$others -gt $$cores ] && jobs=$$((others < 4 * cores ? others : 4 * cores)); echo $$jobs),1)
endif

# What writes into out/ says first where it may not. What is built already can be installed from a
# tree that is not to be written.
MUST_WRITE := $(filter all setup setup-all sim tests check check-ci check-all check-gpu demo bench carry aarch64 \
    dist,$(or $(MAKECMDGOALS),all))
ifneq ($(if $(PRETENDS),,$(MUST_WRITE)$(if $(wildcard out),,$(filter install,$(MAKECMDGOALS)))),)
ifeq ($(shell mkdir -p out 2>/dev/null && [ -w out ] && echo yes),)
$(error cannot write to out/ in $(CURDIR): make in a copy of the tree that is yours (cp -r), or \
    remove what another user has built there)
endif
endif

# The suites of which `make check` runs checks, and those that CI adds: tests/lots.py says which.
GATE := arrows format conformance unit sim twins ways cupti nvtx drivers runtime survival pinned mprotect \
    python debug
CI_ADDS := in-place behind-copies alone languages demo nvcc sanitizers sanitized-programs valgrind

# Including a file that has a rule makes make run the rule first and then start over, so that what
# set-up installed (a toolkit in out/cuda, say) is seen by everything below. What is installed for one
# of these goals holds what is for those before it. make runs that rule with -n, too: there the file is
# a prerequisite, which is shown.
SETUP := $(lastword $(foreach goal,demo check check-ci check-all,$(filter $(goal),$(MAKECMDGOALS) \
    $(if $(filter check,$(MAKECMDGOALS)),$(if $(filter-out $(GATE),$(SUITES)),check-ci)))))
ifneq ($(SETUP),)
ifeq ($(PRETENDS),)
include out/setup-$(SETUP).mk
else
$(filter demo check check-ci check-all,$(MAKECMDGOALS)): out/setup-$(SETUP).mk
endif
endif
out/setup-%.mk: scripts/setup
	$(Q)scripts/setup $*
setup:
	$(Q)scripts/setup check
setup-all:
	$(Q)scripts/setup check-all

# --- tools and flags ------------------------------------------------------------------------------

# Another processor's programs are linked with what `scripts/fetch-root` has fetched.
ifneq ($(filter-out aarch64,$(ARCH)),)
$(error ARCH must be aarch64, not '$(ARCH)')
endif
CROSS   := aarch64-linux-gnu-
ROOT    := out/aarch64/root
ROOT_SO := $(ROOT)/usr/lib/aarch64-linux-gnu
ifneq ($(ARCH),)
CC      := $(CROSS)gcc
CXX     := $(CROSS)g++
endif

# make's own defaults (cc, g++) are not what the project is tested with.
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
# Debian's Python, since that is the one that python3-jsonschema is installed for.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

WARNINGS  := -Wall -Wextra -Wundef -Wcast-qual -Wwrite-strings -Wvla -Wshadow
WARNINGSC := -Wmissing-prototypes -Wstrict-prototypes
OPT       ?= -O2
# What every source needs, apart from CPPFLAGS, which is the user's.
NEEDED    := -I. -D_GNU_SOURCE
CFLAGS    ?= -g
CXXFLAGS  ?= -g
CSTD      := -std=gnu11
ERRORS    := $(if $(WERROR)$(filter-out 0 false,$(CI)),-Werror)

# Nothing below /dev is shown as source (report/command/kernels_files.h): what is built in /dev/shm names
# a place that is not there.
INSTRUMENT := $(if $(filter /dev/%,$(CURDIR)),-fdebug-prefix-map=$(CURDIR)=/not-shown)
ifneq ($(SAN),)
OPT        := -O1
INSTRUMENT += -fsanitize=$(SAN) -fno-omit-frame-pointer
endif
ifeq ($(SAN),address) # what runs alone is held against both at once
INSTRUMENT += -fsanitize=undefined
endif
ifneq ($(filter address undefined,$(SAN)),)
INSTRUMENT += -fno-sanitize-recover=undefined
endif
ifneq ($(COVERAGE),)
OPT        := -O0
INSTRUMENT += --coverage -fprofile-update=atomic
endif
ifneq ($(CHECKED),) # common/checks.h
OPT        := -O0
INSTRUMENT += -DSC_DEBUG -fno-omit-frame-pointer
endif
ifneq ($(ARCH),)
INSTRUMENT += -include tests/emulated_stores.h -L$(ROOT_SO) -Wl,-rpath-link,$(ROOT_SO)
endif

# A toolkit: CUDA_HOME (as NVIDIA's installer, its wheels or conda lay it out), the usual place, or
# the wheels that scripts/setup unpacked, or would.
TOOLKIT  := $(firstword $(patsubst %/include/cuda.h,%,$(wildcard $(addsuffix /include/cuda.h, \
              $(CUDA_HOME) $(CUDA_HOME)/nvidia/cu13 $(CUDA_HOME)/targets/x86_64-linux \
              /usr/local/cuda out/cuda))) $(if $(PRETENDS),$(if $(SETUP),out/cuda)))
CUDART   := $(firstword $(if $(ARCH),,$(wildcard $(addprefix $(TOOLKIT)/,lib64/libcudart.so.13 \
              lib/libcudart.so.13))) $(SIM)/libcudart.so.13)
DRIVER   := $(or $(if $(ARCH),,$(wildcard $(TOOLKIT)/lib64/stubs/libcuda.so)),$(SIM)/libcuda.so.1)
CUDA_CPPFLAGS = $(if $(TOOLKIT),-isystem $(TOOLKIT)/include,$(error no CUDA headers: set \
                  CUDA_HOME, or let `make setup` fetch them))

# $(call at_cc,FILE): where the compiler finds a library, or nothing.
at_cc = $(filter /%,$(shell $(CC) -print-file-name=$(1) 2>/dev/null))

# By the shell, of which `command` is a part: make 4.2 starts a plain command itself.
have = $(shell command -v $(1) 2>/dev/null)

# What builds everything says first what it lacks.
BUILDS := $(filter all tests install bench sim check-gpu carry,$(or $(MAKECMDGOALS),all))
ifneq ($(BUILDS),)
ifeq ($(call have,$(firstword $(CC))),)
$(error no $(firstword $(CC)) here: `make setup` installs what is missing, or set CC)
endif
ifeq ($(TOOLKIT),)
$(error no CUDA headers: set CUDA_HOME, or let `make setup` fetch them)
endif
endif

# --- what there is --------------------------------------------------------------------------------

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))
sources = $(sort $(wildcard $(1)))

CORE_SRC    := $(call sources,common/*.c track/*.c ledger/*.c report/*.c)
HANDS_SRC   := $(call sources,interpose/*/*.c cupti_hooks/*.c)
CORE_OBJ    := $(call objects,$(CORE_SRC))
LIB_OBJ     := $(CORE_OBJ) $(call objects,$(HANDS_SRC))
LIB         := $(if $(HANDS_SRC),$(OUT)/libsafecopy.so)
NOP_OBJ     := $(call objects,$(call sources,tests/bench/nop/*.c))
FULL_KIND_OBJ := $(call objects,$(call sources,tests/full_kind/*.c))
FULL_KIND   := $(if $(FULL_KIND_OBJ),$(OUT)/full_kind/libsafecopy.so)
NOP         := $(if $(NOP_OBJ),$(OUT)/libsafecopy-nop.so)

# The command shares the parsing of options and the rendering of text with the library; its first
# lines say what else, as `links: a.c b.c`.
COMMAND_SRC := $(call sources,$(addprefix report/command/,*.c formats/*.c doctor/*.c symbolizer/*.c \
    watch/*.c))
LINKS       := $(shell sed -n 's/.*links: *\([a-z_/. ]*\).*/\1/p' report/command/main.c 2>/dev/null)
SHARED_SRC  := $(sort $(wildcard report/options.c common/text.c $(LINKS)) \
    $(if $(CHECKED),common/checks.c common/trace.c))
COMMAND     := $(if $(COMMAND_SRC),$(OUT)/safecopy)

# The command reads debug information by libdw (elfutils); without it there are no lines of source.
LIBDW       := $(if $(call at_cc,libdw.so),libdw)
COMMAND_SRC := $(filter-out %/$(if $(LIBDW),no_source_lines.c,source_lines.c),$(COMMAND_SRC))
# Static where all archives are there, so that the command needs nothing but libc where it runs, of
# which libpthread is a part. What elfutils' archives need differs by release: what is there is named.
COMMAND_LIBS := -ljansson $(LIBDW:lib%=-l%) -lelf -liberty
STATIC_LIBS  := -Wl,-Bstatic $(COMMAND_LIBS) \
    $(foreach name,z bz2 lzma zstd,$(if $(call at_cc,lib$(name).a),-l$(name))) \
    -Wl,-Bdynamic -static-libgcc -lpthread
COMMAND_OBJ := $(call objects,$(COMMAND_SRC) $(SHARED_SRC))
EMBEDDED    := docs/hazards.md report/command/frames.rules $(wildcard report/command/formats/page.*)

sim_objects  = $(call objects,$(filter-out %/selftest.c,$(call sources,tests/sim/$(1)/*.c)))
SIM_CUDA_OBJ   := $(call sim_objects,cuda)
SIM_CUDART_OBJ := $(call sim_objects,cudart)
SIM_CUPTI_OBJ  := $(call sim_objects,cupti)
SIM_NVML_OBJ   := $(call sim_objects,nvml)
SIM_OBJ        := $(SIM_CUDA_OBJ) $(SIM_CUDART_OBJ) $(SIM_CUPTI_OBJ) $(SIM_NVML_OBJ)
SIM_LIBS := $(if $(SIM_CUDA_OBJ),$(SIM)/libcuda.so.1) \
            $(if $(SIM_CUDART_OBJ),$(SIM)/libcudart.so.13) \
            $(if $(SIM_CUPTI_OBJ),$(SIM)/libcupti.so.13) $(if $(SIM_NVML_OBJ),$(SIM)/libnvidia-ml.so.1)
# Older drivers, for tests/older_drivers.py.
OLDER_DRIVERS := $(if $(SIM_CUDA_OBJ),$(patsubst %,$(SIM)/driver-%/libcuda.so.1,12000 12040))

# $(call programs,FROM,TO,SUFFIX,PATTERN): what the sources of folder FROM are built into.
programs = $(foreach s,$(call sources,$(addprefix $(1)/$(or $(4),*),.c .cpp)), \
             $(2)/$(basename $(notdir $(s)))$(3))
T := $(OUT)/tests
UNIT     := $(call programs,tests/unit,$(T)/unit,,test_*)
RACY     := $(call programs,tests/hazard/*,$(T)/hazard,.racy)
FIXED    := $(call programs,tests/hazard/*,$(T)/hazard,.fixed)
SURVIVAL := $(call programs,tests/survival,$(T)/survival)
CUPTI    := $(call programs,tests/cupti,$(T)/cupti)
SURVIVAL_SO := $(patsubst tests/survival/lib/%.c,$(T)/survival/lib/lib%.so, \
                 $(call sources,tests/survival/lib/*.c))
FUZZ     := $(call programs,tests/fuzz,$(T)/fuzz,,fuzz_*)
RANDOM   := $(call programs,tests/fuzz,$(T)/fuzz,,random_*)
STRESS   := $(call programs,tests/stress,$(T)/stress)
SELFTEST := $(patsubst tests/sim/%/selftest.c,$(T)/sim/%,$(call sources,tests/sim/*/selftest.c))
DEMO     := $(call programs,tests/demo,$(OUT)/demo)
BENCH    := $(call programs,tests/bench,$(OUT)/bench)
GPU      := $(filter-out $(OUT)/gpu/asking%,$(call programs,tests/gpu,$(OUT)/gpu))
# What the probes are linked with: their common part, and the folder of a probe's name.
PROBES   := $(call programs,tests/gpu/probes,$(OUT)/probes)
GPU_OBJ  := $(call objects,$(call sources,tests/gpu/asking*.c tests/gpu/probes/*/*.c))

# Programs that are built with a sanitizer, as a user's may be: once by each compiler for each of
# SANITIZERS, into tests/sanitized-COMPILER-SANITIZER/.
SANITIZED_TWINS     := sc105_freehost_d2h sc201_other_thread sc202_latent sc202_memcpy_1m \
    sc202_signal_handler
SANITIZED_SURVIVORS := exit_return many_buffers threads
SANITIZED_NAMES     := $(SANITIZED_TWINS:=.racy) $(SANITIZED_TWINS:=.fixed) \
    $(SANITIZED_SURVIVORS) $(notdir $(basename $(call sources,tests/sanitized/*.c)))
SANITIZED_DIRS      := $(foreach c,gcc clang,$(SANITIZERS:%=$(T)/sanitized-$(c)-%))
SANITIZED_PROGRAMS  := $(foreach d,$(SANITIZED_DIRS),$(SANITIZED_NAMES:%=$(d)/%))

# Programs that meet the library only by LD_PRELOAD.
STANDALONE := $(RACY) $(FIXED) $(CUPTI) $(SURVIVAL) $(RANDOM) $(STRESS) $(SELFTEST) $(DEMO) \
              $(BENCH) $(GPU) $(PROBES) $(SANITIZED_PROGRAMS)
PROGRAMS   := $(filter-out $(PROBES),$(STANDALONE)) $(UNIT) $(FUZZ)

# libunwind is loaded at run time from beside the library; the copies let out/ be carried to a
# machine that lacks it.
at_root = $(firstword $(wildcard $(ROOT_SO)/$(1) $(ROOT)/lib/aarch64-linux-gnu/$(1)))
where   = $(if $(ARCH),$(at_root),$(at_cc))
BESIDE := $(foreach so,libunwind.so.8 liblzma.so.5,$(if $(call where,$(so)),$(OUT)/$(so)))

all: $(LIB) $(COMMAND) $(NOP) $(BESIDE) sim $(OUT)/compile_commands.json
sim: $(SIM_LIBS)
tests: all $(PROGRAMS) $(OLDER_DRIVERS)

# --- compiling ------------------------------------------------------------------------------------

# Changed flags rebuild; the file is rewritten only when they differ.
FLAGS_NOW := $(strip $(CC) $(CXX) $(NEEDED) $(CPPFLAGS) $(OPT) $(CFLAGS) $(CXXFLAGS) $(LDFLAGS) \
               $(INSTRUMENT) $(TOOLKIT) $(LIBDW))
FLAGS     := $(OBJ)/flags
ifneq ($(FLAGS_NOW),$(file <$(FLAGS)))
.PHONY: $(FLAGS)
endif
$(FLAGS):
	@mkdir -p $(@D) && printf '%s\n' '$(FLAGS_NOW)' >$@

CUDA    = # the include path of the CUDA headers, for those that may know CUDA
COMMON  = $(NEEDED) $(CPPFLAGS) $(CUDA) $(WARNINGS) $(ERRORS) $(OPT)
CBUILD  = $(CC) $(CSTD) $(COMMON) $(WARNINGSC) $(CFLAGS) $(INSTRUMENT)
CXXBUILD = $(CXX) -std=gnu++17 $(COMMON) $(CXXFLAGS) $(INSTRUMENT)
LINK    = $(CC) $(CFLAGS) $(INSTRUMENT) $(LDFLAGS)
DEPS    = -MMD -MP -MT $@ -MF $@.d

$(OBJ)/%.o: %.c $(FLAGS)
	$(call say,CC     )
	@mkdir -p $(@D)
	$(Q)$(CBUILD) $(PICFLAGS) $(DEPS) -c $< -o $@
	@printf '{"directory": "%s", "file": "$<", "command": "%s"},\n' "$$PWD" \
	    '$(subst ",\",$(subst \,\\,$(CBUILD) $(PICFLAGS) -c $<))' >$@.json

$(LIB_OBJ) $(COMMAND_OBJ) $(NOP_OBJ) $(FULL_KIND_OBJ): private PICFLAGS := \
    -fPIC -ftls-model=initial-exec -fvisibility=hidden
# gcc clears a record of 100 bytes by an instruction that takes longer than all else that is done
# with it (rep stos), and each copy has some. Other compilers do not know the option.
CLEARING := -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
CLEARING := $(shell $(CC) $(CLEARING) -xc -fsyntax-only /dev/null 2>/dev/null && echo $(CLEARING))
$(LIB_OBJ): private CFLAGS += $(CLEARING)
# What the commonest calls run lies side by side (scripts/code-layout): the linker's own script has it
# before all else of .text. Linkers that have no such script lay the library out as they like.
LAYOUT := interpose/entry/layout
SCRIPT := $(OBJ)/library.ld
$(LIB_OBJ): private CFLAGS += -ffunction-sections
# A thread may begin where no memory can be had, as it may with the real libraries.
$(SIM_OBJ): private PICFLAGS := -fPIC -pthread -ftls-model=initial-exec
$(call objects,$(HANDS_SRC)) $(NOP_OBJ) $(SIM_OBJ): private CUDA = $(CUDA_CPPFLAGS)

# How each object was compiled, for editors and other tools (.clangd). What was compiled by an older
# Makefile is not in it.
$(OUT)/compile_commands.json: $(LIB_OBJ) $(COMMAND_OBJ) $(NOP_OBJ) $(SIM_OBJ)
	@{ echo '['; cat $(^:=.json) 2>/dev/null | sed '$$s/,$$//'; echo ']'; } >$@

# dlsym must be a tail call, or RTLD_NEXT would mean the library instead of its caller: gcc makes
# one at -O2, and neither at -O1 nor between a sanitizer's or gcov's entry and exit code.
DOORS := $(OBJ)/interpose/entry/dlsym.o
$(DOORS): private override OPT := -O2
$(DOORS): private override CFLAGS := -g
$(DOORS): private override INSTRUMENT :=

# --- libraries ------------------------------------------------------------------------------------

# $(call version_script,DIR): what the library exports, where DIR has an opinion.
version_script = $(addprefix -Wl$(comma)--version-script=,$(wildcard $(1)/exports.map))
comma := ,
SHARED = -shared -Wl,-z,defs,-z,relro,-z,now -Wl,-soname,$(notdir $@)

define link_shared
$(call say,LD     )
@mkdir -p $(@D)
$(Q)$(LINK) $(SHARED) $(call version_script,$(1)) $(filter %.o,$^) -o $@ -lpthread -ldl
endef

# Its own functions are meant where it names them, also where the driver loads it (interpose/entry/injected.h)
# and everybody else's come first.
$(OUT)/libsafecopy.so $(FULL_KIND): private LDFLAGS += -Wl,-Bsymbolic-functions
# But for the mutexes: it locks its own past its own hooks (interpose/system_calls/futexes.c), and past those of a
# sanitizer, where it waits and moves memory as well (interpose/base/sanitizers.h).
PAST_HOOKS := pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock \
    pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast \
    memcpy memmove memset memcmp memchr memmem strlen strnlen strcmp \
    strncmp strchr strrchr strstr strspn strcspn
$(OUT)/libsafecopy.so $(FULL_KIND): private LDFLAGS += $(PAST_HOOKS:%=-Wl,--wrap=%)
$(SCRIPT): $(LAYOUT) $(FLAGS)
	@mkdir -p $(@D)
	@$(LINK) $(SHARED) -Wl,--verbose -o /dev/null 2>/dev/null | awk -v layout=$< '/^=====/ { inside = !inside; next } \
	    inside && /\*\(\.text\.unlikely/ { while ((getline line <layout) > 0) print line } inside' >$@
$(OUT)/libsafecopy.so: private LDFLAGS += $(if $(shell test -s $(SCRIPT) && echo yes),-Wl$(comma)-T$(comma)$(SCRIPT))
$(OUT)/libsafecopy.so: $(LIB_OBJ) $(wildcard interpose/entry/exports.map) $(SCRIPT)
	$(call link_shared,interpose/entry)
$(FULL_KIND): $(filter-out $(OBJ)/report/userfaultfd.o,$(LIB_OBJ)) $(FULL_KIND_OBJ) $(wildcard interpose/entry/exports.map)
	$(call link_shared,interpose/entry)
$(OUT)/libsafecopy-nop.so: $(NOP_OBJ) $(wildcard tests/bench/nop/exports.map)
	$(call link_shared,tests/bench/nop)
$(SIM)/libcuda.so.1: $(SIM_CUDA_OBJ) $(wildcard tests/sim/cuda/exports.map)
	$(call link_shared,tests/sim/cuda)
# The same without what later drivers have added.
.PRECIOUS: $(SIM)/driver-%/exports.map
$(SIM)/driver-%/exports.map: tests/sim/cuda/driver.def
	@mkdir -p $(@D)
	@awk -F '[(, ]+' -v last=$* 'BEGIN { print "{ global: cu*; local:" } \
	    /^SIM_(FUNCTION|STUB)/ && $$4 > last { print "    " $$2 ";" } END { print "    *; };" }' $< >$@
$(SIM)/driver-%/libcuda.so.1: $(SIM)/driver-%/exports.map $(SIM_CUDA_OBJ)
	$(call say,LD     )
	$(Q)$(LINK) $(SHARED) -Wl,--version-script=$< $(SIM_CUDA_OBJ) -o $@ -lpthread -ldl
$(SIM)/libcudart.so.13: $(SIM_CUDART_OBJ) $(wildcard tests/sim/cudart/exports.map)
	$(call link_shared,tests/sim/cudart)
$(SIM)/libcupti.so.13: $(SIM_CUPTI_OBJ) $(wildcard tests/sim/cupti/exports.map)
	$(call link_shared,tests/sim/cupti)
$(SIM)/libnvidia-ml.so.1: $(SIM_NVML_OBJ) $(wildcard tests/sim/nvml/exports.map)
	$(call link_shared,tests/sim/nvml)

# Files that are strings of the command (report/command/embed.h).
$(call objects,$(COMMAND_SRC)): $(EMBEDDED)
LINK_COMMAND = $(LINK) -Wl,-z,relro,-z,now -Wl,--enable-new-dtags,-rpath,'$$ORIGIN' $^ -o $@
$(OUT)/safecopy: $(COMMAND_OBJ)
	$(call say,LD     )
	@$(if $(LIBDW),:,echo 'no libdw here: the command names no lines of source')
	$(Q)$(LINK_COMMAND) $(STATIC_LIBS) -ldl 2>/dev/null || \
	    $(LINK_COMMAND) $(COMMAND_LIBS) -ldl -lpthread

$(BESIDE): $(OUT)/%:
	$(call say,COPY   )
	@mkdir -p $(@D)
	$(Q)cp -L $(call where,$*) $@

# --- programs -------------------------------------------------------------------------------------

# Built like a user's, with the toolkit's cudart and driver stub where there are any, and bound to
# sonames alone: LD_LIBRARY_PATH=out/sim then decides between the simulated GPU and the real one.
# RUNPATH, since that gives way to it.
$(STANDALONE): private CUDA = $(CUDA_CPPFLAGS)
# There are some two thousand of them, and mold links one in half the time that ld takes. What is
# distributed is linked by ld.
QUICK_LD := $(if $(VARIANT),,$(if $(call have,ld.mold),$(shell printf 'int main(void) { return 0; }' | \
    $(CC) -fuse-ld=mold -xc - -o /dev/null 2>/dev/null && echo -fuse-ld=mold)))
$(STANDALONE): private PROGRAM_LIBS = -Wl,--enable-new-dtags -pthread -ldl -lm -Wl,--as-needed \
    $(addprefix -Wl$(comma)-rpath$(comma),$(abspath $(dir $(filter-out $(SIM)/%,$(CUDART))))) \
    $(CUDART) $(DRIVER)
$(STANDALONE): $(FLAGS) | $(filter $(SIM)/%,$(CUDART) $(DRIVER))

# A source may ask for flags of its own in a line `// cflags: ...`, and for libraries of
# tests/survival/lib in a line `// link: ...`. (cudart and the driver are linked when called.)
asking    = $(shell grep -slE '^// $(1): ' $(addprefix tests/,*/*.c */*.cpp */*/*.c */*/*.cpp))
FLAGGED   := $(call asking,cflags)
LINKING   := $(call asking,link)
own_flags = $(if $(filter $<,$(FLAGGED)),$$(sed -n 's,^// cflags: *,,p' $<))
own_libs  = $(if $(filter $<,$(LINKING)),$$(sed -n 's,^// link: *,,p' $< | tr ' ' '\n' | \
               sed '/^\(none\|cuda\|cudart\)$$/d; s,.*,$(T)/survival/lib/lib&.so,'))
define build_program
$(call say,PROG   )
@mkdir -p $(@D)
$(Q)$(UNLESS) $(if $(filter %.cpp,$<),$(CXXBUILD),$(CBUILD)) $(1) $(DEPS) $< $(filter %.o,$^) \
    $(QUICK_LD) $(own_flags) -o $@ $(own_libs) $(PROGRAM_LIBS) $(IF_IT_FAILS)
endef

# The fuzzers have a main of their own, unless libFuzzer brings one.
FUZZ_MAIN ?= -DSC_FUZZ_STANDALONE

# $(call program_rules,TARGET PATTERN,SOURCE PATTERN,FLAGS)
define program_rules
$(1): $(2).c
	$$(call build_program,$(3))
$(1): $(2).cpp
	$$(call build_program,$(3))
endef

# A twin is one program of two names (tests/hazard/twin.h). The second is a hard link: a report says
# by which one it was run. Twins lie in folders, and what is built of them does not: a base name
# occurs once.
# $(call twin_rules,TO,SOURCE PATTERN,FLAGS), and $(call twins_into,TO,FLAGS) for the twins of all
# folders. The rules are static: where a twin has lain before is nothing to them.
TWIN_SRC := $(call sources,tests/hazard/*/*.c tests/hazard/*/*.cpp)
# What twins have in common is compiled once, and so is its header. A twin in C++, or with flags of its
# own, which may choose other variants of CUDA's functions, compiles both.
TWIN_FIRST  := $(T)/hazard/first.h
TWIN_SHARED := $(OBJ)/tests/hazard/twin.o
TWIN_ALONE  := $(patsubst %.c,$(T)/hazard/%.racy,$(notdir $(filter $(FLAGGED),$(TWIN_SRC)))) \
    $(patsubst %.cpp,$(T)/hazard/%.racy,$(notdir $(filter %.cpp,$(TWIN_SRC))))
TWIN_LINKED := $(filter-out $(TWIN_ALONE),$(RACY))
$(TWIN_FIRST).gch: tests/hazard/twin.h $(FLAGS)
	$(call say,PCH    )
	@mkdir -p $(@D) && printf '%s\n' '#define TWIN_LINKED' '#include "$<"' >$(TWIN_FIRST)
	$(Q)$(CBUILD) -Itests/hazard -pthread $(DEPS) -c -x c-header $(TWIN_FIRST) -o $@
$(TWIN_FIRST).gch $(TWIN_SHARED): private CUDA = $(CUDA_CPPFLAGS)
$(TWIN_LINKED): private TWIN_FLAGS := -include $(TWIN_FIRST)
$(TWIN_LINKED): $(TWIN_FIRST).gch $(TWIN_SHARED)
define twin_rules
$(patsubst $(2),$(1)/%.racy,$(filter $(2),$(TWIN_SRC))): $(1)/%.racy: $(2)
	$$(call build_program,-Itests/hazard $(3))
$(patsubst $(2),$(1)/%.fixed,$(filter $(2),$(TWIN_SRC))): $(1)/%.fixed: $(1)/%.racy
	$(Q)$$(if $$(IF_IT_FAILS),[ ! -e $$< ] || ln -f $$< $$@,ln -f $$< $$@)
endef
twins_into = $(foreach d,$(sort $(dir $(TWIN_SRC))),$(foreach s,$(sort $(suffix $(TWIN_SRC))),\
    $(if $(filter $(d)%$(s),$(TWIN_SRC)),$(eval $(call twin_rules,$(1),$(d)%$(s),$(2))))))
$(call twins_into,$(T)/hazard,$$(TWIN_FLAGS))
# An older NAME.d may name the place where the source of NAME lay then.
tests/hazard/%.c: ;
tests/hazard/%.cpp: ;

$(eval $(call program_rules,$(T)/survival/%,tests/survival/%))
$(eval $(call program_rules,$(T)/cupti/%,tests/cupti/%))
$(eval $(call program_rules,$(T)/unit/%,tests/unit/%))
$(eval $(call program_rules,$(T)/fuzz/fuzz_%,tests/fuzz/fuzz_%,$(FUZZ_MAIN)))
$(eval $(call program_rules,$(T)/fuzz/random_%,tests/fuzz/random_%))
$(eval $(call program_rules,$(T)/stress/%,tests/stress/%))
$(eval $(call program_rules,$(T)/sim/%,tests/sim/%/selftest))
$(eval $(call program_rules,$(OUT)/demo/%,tests/demo/%))
$(eval $(call program_rules,$(OUT)/bench/%,tests/bench/%))
$(eval $(call program_rules,$(OUT)/gpu/%,tests/gpu/%))
$(eval $(call program_rules,$(OUT)/probes/%,tests/gpu/probes/%))

$(GPU_OBJ): private CUDA = $(CUDA_CPPFLAGS)
$(PROBES) $(addprefix $(OUT)/gpu/conformance_,managed memory settings virtual): $(OBJ)/tests/gpu/asking.o
$(filter %_activity %_cupti %_resource %_unified,$(PROBES)): $(OBJ)/tests/gpu/asking_cupti.o
$(foreach p,$(PROBES),$(eval $(p): $(filter $(OBJ)/tests/gpu/probes/$(notdir $(p))/%,$(GPU_OBJ))))
# They ask what docs/driver.md answers: by name, and for no test.
.PHONY: probes
probes: $(PROBES)

# Some of them link libcupti as profilers do, and one opens a library of the survival programs.
$(CUPTI): | $(SIM_LIBS) $(T)/survival/lib/libconstructor.so

# Some twins open a library of theirs as well.
$(filter %dlclose.racy %dlclose.fixed %dlclose_registered.racy %dlclose_registered.fixed, \
  $(RACY) $(FIXED)): | $(T)/survival/lib/libstatic_data.so
$(filter %dlclose_sealed.racy %dlclose_sealed.fixed,$(RACY) $(FIXED)): | \
  $(T)/survival/lib/libbare_data.so
$(filter %_below_plugin.racy %_below_plugin.fixed,$(RACY) $(FIXED)): | \
  $(T)/survival/lib/libframe_small.so
$(filter %_of_library.racy %_of_library.fixed,$(RACY) $(FIXED)): | \
  $(T)/survival/lib/libcublas_like.so
$(filter %_named_late.racy %_named_late.fixed,$(RACY) $(FIXED)): | $(T)/survival/lib/libslow_names.so
$(foreach how,deep_linked deep_looked_up,$(eval \
  $(filter %_$(how).racy %_$(how).fixed,$(RACY) $(FIXED)): | $(T)/survival/lib/lib$(how).so))

# Libraries that the survival programs link, open or have preloaded, found beside them.
$(SURVIVAL): | $(SURVIVAL_SO)
$(SURVIVAL): private CFLAGS += -Wl,-rpath,'$$ORIGIN/lib'
$(SURVIVAL_SO): $(T)/survival/lib/lib%.so: tests/survival/lib/%.c $(FLAGS)
	$(call say,SO     )
	@mkdir -p $(@D)
	$(Q)$(CBUILD) $(DEPS) -fPIC -shared $(own_flags) -Wl,-soname,$(notdir $@) $< -o $@ -pthread -ldl
$(SURVIVAL_SO): private CUDA = $(CUDA_CPPFLAGS)
$(T)/survival/lib/libdeep_linked.so: | $(SIM)/libcuda.so.1
$(T)/survival/lib/libdeep_linked.so: private CFLAGS += -Wl,--no-as-needed -L$(SIM) -l:libcuda.so.1
# They stand for strangers' libraries, which are not held to the project's warnings.
$(SURVIVAL_SO): private NEEDED := -I.
$(SURVIVAL_SO): private WARNINGS := -Wall -Wextra
$(SURVIVAL_SO): private WARNINGSC :=

# To optimise them takes twice as long as to compile them.
$(RANDOM): private OPT := $(OPT:-O2=-O1)
# Of these there are 1500, each of which is compiled in a seventh less time so. A report names their
# functions and lines, and a debugger their variables where CFLAGS is another (CFLAGS=-ggdb).
QUICKLY := $(TWIN_FIRST).gch $(TWIN_SHARED) $(RACY) $(SURVIVAL) $(CUPTI)
$(QUICKLY): private OPT := $(OPT:-O2=-O1)
$(QUICKLY): private CFLAGS := $(patsubst -g,-g1,$(CFLAGS))

$(UNIT): private PROGRAM_LIBS = $(shell pkg-config --libs check) -pthread -ldl
$(UNIT): private NEEDED += -include tests/unit/older_check.h
# What is tested is in the objects; a test of many assertions takes twice as long to optimise.
$(UNIT): private OPT := $(OPT:-O2=-O1)
# Units that are quick, also in the build that checks itself: the net, and what it is spread over. They
# are linked with the tracker alone, so that a build for them is one of the tracker.
CHECKED_UNITS := checks pool grid handles order hold spans unseen inflight device events allocations \
    graphs deallocation track
$(UNIT): $(FLAGS)
$(CHECKED_UNITS:%=$(T)/unit/test_%): $(filter $(foreach d,common track,$(OBJ)/$(d)/%),$(CORE_OBJ))
$(filter-out $(CHECKED_UNITS:%=$(T)/unit/test_%),$(UNIT)): $(CORE_OBJ)
# A unit test of the hands opens with lines `links: a.c b.c`, which say of which.
linked = $(call objects,$(shell sed -n 's,^[/ ][*] links: *,,p' $(1)))
$(foreach s,$(shell grep -l '^/\* links:' tests/unit/*.c),\
    $(eval $(T)/unit/$(basename $(notdir $(s))): $(call linked,$(s))))
# A test of what may know CUDA may know it, too.
UNIT_CUDA := $(shell grep -lE '^.include .(interpose/|cupti_hooks/|cuda|cupti)' tests/unit/*.c)
$(UNIT_CUDA:tests/%.c=$(T)/%): private CUDA = $(CUDA_CPPFLAGS)
$(T)/unit/test_doctor $(T)/unit/test_captured: $(filter $(patsubst %,$(OBJ)/report/command/%.o, \
    doctor/diagnos% doctor/driver_errors doctor/architecture doctor/captured scratch say progress), \
    $(COMMAND_OBJ))
$(T)/unit/test_short_name: $(patsubst %,$(OBJ)/report/command/%.o,short_name scratch say progress)
$(FUZZ): private PROGRAM_LIBS = -pthread -ldl
$(FUZZ): $(CORE_OBJ) $(FLAGS)
$(T)/fuzz/fuzz_parse: $(patsubst %,$(OBJ)/report/command/%.o,parse pieces table)
$(T)/unit/test_builds: $(patsubst %,$(OBJ)/report/command/%.o,builds namings table scratch say progress)
FUZZ_COMMAND := $(addprefix $(T)/fuzz/fuzz_,excerpts report_reader read_files program_files \
    module_files watch)
COMMAND_PARTS := $(filter-out %/main.o %/run_judged.o $(OBJ)/report/command/cmd_%,$(COMMAND_OBJ))
$(FUZZ_COMMAND): private PROGRAM_LIBS = -pthread $(COMMAND_LIBS) -ldl
$(FUZZ_COMMAND): $(COMMAND_PARTS)
UNIT_COMMAND := $(addprefix $(T)/unit/test_,merged_runs)
$(UNIT_COMMAND): private PROGRAM_LIBS = $(shell pkg-config --libs check) -pthread $(COMMAND_LIBS) -ldl
$(UNIT_COMMAND): $(COMMAND_PARTS)

# Nothing is built where the probe does not run, for want of the compiler or of the run-time; the file
# `why` says so.
# $(call sanitized_rules,FOLDER,COMPILER,SANITIZER)
define sanitized_rules
$(filter $(1)/%,$(SANITIZED_PROGRAMS)): private override CC := $(2)
$(filter $(1)/%,$(SANITIZED_PROGRAMS)): private override INSTRUMENT := -w -fsanitize=$(3)
$(filter $(1)/%,$(SANITIZED_PROGRAMS)): $(1)/probe
$(1)/probe: $(FLAGS) $(if $(SETUP),$(wildcard out/setup-check-ci.mk))
	@mkdir -p $(1)
	$(Q)if echo 'int main(void) { return 0; }' | $(2) -fsanitize=$(3) -xc - -o $(1)/probe && \
	    { setarch -R $(1)/probe || $(1)/probe; }; then rm -f $(1)/why; \
	    else echo 'no run-time of $(2) -fsanitize=$(3) here' | tee $(1)/why; fi 2>/dev/null
	@touch $(1)/probe
$(call twins_into,$(1))
$(call program_rules,$(1)/%,tests/survival/%)
$(call program_rules,$(1)/%,tests/sanitized/%)
endef
$(foreach c,gcc clang,$(foreach s,$(SANITIZERS),\
    $(eval $(call sanitized_rules,$(T)/sanitized-$(c)-$(s),$(c),$(s)))))
$(SANITIZED_PROGRAMS): private QUICK_LD :=
$(SANITIZED_PROGRAMS): private UNLESS = [ -e $(@D)/why ] && : >$@ ||
.PHONY: sanitized-programs
sanitized-programs: $(SANITIZED_PROGRAMS)

# Twins against other runtimes than the toolkit's, for `make check-gpu`: old binaries meet the new
# driver. A twin that uses what a runtime does not have yet is left out.
RUNTIMES := 12 11
WHEEL_12 := 'nvidia-cuda-runtime-cu12==12.9.*' 'nvidia-cuda-cupti-cu12==12.9.*'
WHEEL_11 := 'nvidia-cuda-runtime-cu11==11.8.*'
OTHER    := $(foreach r,$(RUNTIMES),$(patsubst $(T)/hazard/%,$(T)/hazard-$(r)/%,$(RACY) $(FIXED)))
.PHONY: other-runtimes
other-runtimes: $(OTHER)

out/cuda%/include/cuda_runtime_api.h: | out/setup-check.mk
	$(Q)scripts/fetch-cuda out/cuda$* $(WHEEL_$*)

$(foreach r,$(RUNTIMES),$(call twins_into,$(T)/hazard-$(r),-w))
$(OTHER): IF_IT_FAILS := 2>/dev/null || echo '  (not with this runtime)'
$(OTHER): private PROGRAM_LIBS = -pthread -ldl -lrt -Wl,--as-needed -Wl,-rpath,'$$ORIGIN' \
    $(OTHER_CUDART) $(DRIVER)
define other_wheel
$(filter $(T)/hazard-$(1)/%,$(OTHER)): out/cuda$(1)/include/cuda_runtime_api.h
$(filter $(T)/hazard-$(1)/%,$(OTHER)): private CUDA = -isystem out/cuda$(1)/include \
    $$(CUDA_CPPFLAGS)
$(filter $(T)/hazard-$(1)/%,$(OTHER)): private OTHER_CUDART = out/cuda$(1)/lib/libcudart.so.$(1)*
endef
$(foreach r,$(RUNTIMES),$(eval $(call other_wheel,$(r))))

# Newer runtimes have the soname of the one that the twins are built against, and take its place.
NEWER := 13.1 13.2 13.3 13.4 13.5
.PHONY: newer-runtimes
newer-runtimes: $(NEWER:%=out/cuda%/lib/libcudart.so.13)
out/cuda13.%/lib/libcudart.so.13: | out/setup-check.mk
	$(Q)scripts/fetch-cuda out/cuda13.$* 'nvidia-cuda-runtime==13.$*.*'

# --- jobs -----------------------------------------------------------------------------------------

# The instrumented builds are whole builds of their own in out/SAN/.
SANITIZED := $(addprefix sanitized-,$(SANITIZERS))
.PHONY: $(SANITIZED)
$(SANITIZED): sanitized-%:
	$(Q)$(MAKE) --no-print-directory SAN=$* instrumented
# What the runner runs instrumented.
.PHONY: instrumented
instrumented: $(if $(filter undefined,$(SAN)),$(LIB) $(SIM_LIBS),$(UNIT) $(FUZZ))

.PHONY: checked-units checked checked-library debug-build
# They make the same objects, so one comes behind the other.
debug-build checked-library: | checked-units
debug-build:
	$(Q)$(MAKE) --no-print-directory DEBUG=1 all checked-all
.PHONY: checked-all
checked-all: $(UNIT) $(FUZZ) $(RANDOM)
checked-units:
	$(Q)$(MAKE) --no-print-directory DEBUG=1 checked
checked-library:
	$(Q)$(MAKE) --no-print-directory DEBUG=1 $(LIB:out/%=out/debug/%)
checked: $(CHECKED_UNITS:%=$(T)/unit/test_%)

# By hand: out/libfuzzer/tests/fuzz/NAME runs for as long as it is let.
.PHONY: libfuzzer
libfuzzer:
	$(Q)$(MAKE) --no-print-directory CC=clang VARIANT=libfuzzer FUZZ_MAIN= \
	    INSTRUMENT='-fsanitize=fuzzer,address' libfuzzer-programs
.PHONY: libfuzzer-programs
libfuzzer-programs: $(FUZZ)

# The other compiler must find nothing to warn of either.
.PHONY: clang
clang:
	$(Q)$(if $(call have,clang),$(MAKE) --no-print-directory CC=clang CXX=clang++ VARIANT=clang \
	    WERROR=1 all,echo 'no clang here: its warnings are not checked')

# What a suite runs, where that is less than all. The units in Python name a few programs of others:
# twins, and other programs in quotes.
UNIT_NAMES    = $(shell grep -ohE 'sc[0-9]{3}_\w+|"\w+"' tests/unit/*.py | tr -d '"' | sort -u)
UNIT_PROGRAMS = $(filter $(foreach s,racy fixed,$(UNIT_NAMES:%=$(T)/hazard/%.$(s))) \
    $(foreach d,survival cupti,$(UNIT_NAMES:%=$(T)/$(d)/%)),$(RACY) $(FIXED) $(SURVIVAL) $(CUPTI))
RUN_BY_arrows      :=
RUN_BY_format      :=
RUN_BY_unit         = all checked-units $(UNIT) $(UNIT_PROGRAMS) $(filter-out %.py,$(DEMO)) \
    $(addprefix $(OUT)/gpu/conformance_,memory virtual)
RUN_BY_sim         := all $(SELFTEST)
RUN_BY_conformance := all $(filter $(OUT)/gpu/conformance%,$(GPU))
RUN_BY_twins       := all $(RACY) $(FIXED)
RUN_BY_in-place    := all $(RACY) $(FIXED)
RUN_BY_behind-copies := all $(RACY)
RUN_BY_ways        := all $(RACY) $(FIXED) $(T)/survival/lib/libways.so
RUN_BY_alone       := all $(RACY) $(FIXED)
RUN_BY_mprotect    := all $(RACY) $(FIXED) $(SURVIVAL)
RUN_BY_full-kind   := all $(FULL_KIND) $(RACY) $(FIXED) $(SURVIVAL) $(RANDOM) $(STRESS)
RUN_BY_drivers     := all $(filter %_driver.racy %_driver.fixed,$(RACY) $(FIXED)) $(OLDER_DRIVERS)
RUN_BY_cupti       := all $(CUPTI)
RUN_BY_survival    := all $(SURVIVAL)
RUN_BY_pinned      := all $(SURVIVAL)
RUN_BY_runtime     := all $(RACY) $(FIXED) $(SURVIVAL)
RUN_BY_languages   := all
RUN_BY_nvcc        := all
RUN_BY_nvtx        := all $(RACY) $(FIXED) $(SURVIVAL)
RUN_BY_python      := all
RUN_BY_demo        := all $(DEMO)
RUN_BY_fuzz        := all $(FUZZ) $(RANDOM)
RUN_BY_stress      := all $(STRESS)
RUN_BY_soak        := all $(filter %/soak,$(BENCH))
RUN_BY_sanitized-programs := all $(SANITIZED_PROGRAMS)
RUN_BY_sanitizers  := all $(CUPTI) $(RACY) $(FIXED) \
    $(if $(filter check-ci,$(MAKECMDGOALS)),sanitized-address,$(SANITIZED))
RUN_BY_valgrind    := all $(UNIT) $(CUPTI) $(SURVIVAL) $(RACY) $(FIXED)
RUN_BY_aarch64     := aarch64
RUN_BY_debug       := all $(RANDOM) $(STRESS) $(if $(filter debug,$(SUITES)),\
    debug-build $(RACY) $(FIXED) $(SURVIVAL) $(CUPTI),checked-library)
RUN_BY_ALL         := tests $(FULL_KIND) debug-build $(SANITIZED) clang aarch64
run_by = $(if $(filter undefined,$(origin RUN_BY_$(1))),$(RUN_BY_ALL),$(RUN_BY_$(1)))

built_by = $(sort $(foreach suite,$(or $(SUITES),$(1)),$(call run_by,$(suite))))
check: $(call built_by,$(GATE))
check-ci: $(call built_by,$(GATE) $(CI_ADDS))
check-all: $(call built_by,ALL)
check check-ci check-all:
	$(Q)$(PYTHON) tests/run.py $(or $(SUITES),$(@:check-%=%))
demo: all $(DEMO)
	$(Q)scripts/demo
bench: all $(BENCH)
	$(Q)scripts/bench
check-gpu: tests other-runtimes newer-runtimes
	$(Q)scripts/check-gpu
carry: tests other-runtimes newer-runtimes
	$(Q)scripts/carry

# A processor that is not here, by an emulator: all programs where the suite is asked for, and else
# some of all kinds. Without the emulator, or what the programs are linked with, the library is
# compiled all the same.
EMULATED_TWINS     := sc101_free_h2d sc102_free_d2h sc103_unregister_h2d sc105_freehost_d2h \
    sc201_other_thread sc201_signal_handler sc202_io_writev sc204_per_thread_small \
    sc201_batch_sealed sc302_small_stack sc304_batch_h2d sc401_child_graph none_unregistered_again
EMULATED_SURVIVORS := exit_return fork_in_flight io_filtered segv_coroutines signal_contexts
EMULATED_UNITS     := test_frames test_grid test_order test_origins test_peek test_spans test_stacks \
    test_track
# The command's libraries are not among what the programs are linked with.
EMULATED_ALL       := $(UNIT) $(filter-out $(FUZZ_COMMAND) %/fuzz_parse,$(FUZZ)) $(RACY) $(FIXED) \
    $(SURVIVAL) $(filter-out %.py,$(DEMO))
EMULATED_FEW       := $(EMULATED_UNITS:%=$(T)/unit/%) $(EMULATED_SURVIVORS:%=$(T)/survival/%) \
    $(EMULATED_TWINS:%=$(T)/hazard/%.racy) $(EMULATED_TWINS:%=$(T)/hazard/%.fixed) $(OUT)/demo/frees
.PHONY: emulated
emulated: $(LIB) $(if $(wildcard $(ROOT)/lib),$(BESIDE) sim \
    $(if $(filter aarch64,$(SUITES)),$(EMULATED_ALL),$(EMULATED_FEW)))
aarch64:
	$(Q)if command -v $(CROSS)gcc >/dev/null && command -v qemu-aarch64-static >/dev/null && \
	    [ ! -e $(ROOT)/lib ]; then \
	    scripts/fetch-root $(ROOT) arm64 || echo 'nothing is run for aarch64'; fi
	$(Q)if ! command -v $(CROSS)gcc >/dev/null; then \
	    echo 'no $(CROSS)gcc here: not compiled for aarch64'; exit; fi; \
	$(MAKE) --no-print-directory ARCH=aarch64 emulated

# The man page and the completions lie in share/ as they are installed.
SHARE := $(sort $(wildcard share/*/*/*))

# The libunwind that it was built beside, by the name under which only we look for it: its own would
# stand for the system's to all programs, in a folder like /usr/local/lib.
UNWIND    := $(filter %/libunwind.so.8,$(BESIDE))
UNWIND_AS := lib/libsafecopy-unwind.so.8

INSTALL_DIRS := lib bin include $(sort $(dir $(SHARE)))
INSTALLED = lib/$(notdir $(LIB)) bin/$(notdir $(COMMAND)) include/safecopy.h \
    $(if $(UNWIND),$(UNWIND_AS)) $(SHARE)
TO = $(DESTDIR)$(PREFIX)
MAY_NOT_WRITE = { echo "make: cannot write to $$path: be root (sudo make $@), or choose a place of" \
    "your own (make $@ PREFIX=\$$HOME/.local)" >&2; exit 1; }
# Debian has another program of the command's name. All that is ours says so, by its name or in it.
IS_THERE = [ -e "$(TO)/$$name" ] || [ -L "$(TO)/$$name" ]
IS_OURS  = case $$name in *libsafecopy*) ;; *) grep -qasw libsafecopy "$(TO)/$$name" ;; esac

# One that is empty goes if its name, or PREFIX, has ours: bin/ of /usr/local stays.
IS_OUR_FOLDER = case "$$path" in *safecopy*) ;; *) false ;; esac

define install_one
	install -m $(1) $(2) "$(TO)/$(3)"

endef

install: all
	@for name in $(INSTALL_DIRS); do \
	    path="$(TO)/$$name"; \
	    until [ -e "$$path" ]; do path=$$(dirname "$$path"); done; \
	    [ -w "$$path" ] || $(MAY_NOT_WRITE); \
	done
	@for name in $(INSTALLED); do \
	    { $(IS_THERE); } || continue; \
	    $(IS_OURS) || { echo "make: $(TO)/$$name is not of libsafecopy, and stays: choose another" \
	        "place (make $@ PREFIX=/opt/libsafecopy)" >&2; exit 1; }; \
	done
	for name in $(INSTALL_DIRS); do install -d "$(TO)/$$name" || exit; done
	$(call install_one,644,$(LIB),lib/)
	$(call install_one,755,$(COMMAND),bin/)
	$(call install_one,644,include/safecopy.h,include/)
	$(if $(UNWIND),$(call install_one,644,$(UNWIND),$(UNWIND_AS)))
	$(foreach file,$(SHARE),$(call install_one,644,$(file),$(dir $(file))))

uninstall:
	@for name in $(INSTALLED); do \
	    path=$$(dirname "$(TO)/$$name"); \
	    [ ! -e "$(TO)/$$name" ] || [ -w "$$path" ] || $(MAY_NOT_WRITE); \
	done
	@for name in $(INSTALLED); do \
	    { $(IS_THERE); } || continue; \
	    if $(IS_OURS); then echo "rm $(TO)/$$name"; rm -f "$(TO)/$$name" || exit; \
	    else echo "make: $(TO)/$$name is not of libsafecopy, and stays" >&2; fi; \
	done
	@for name in $(INSTALL_DIRS); do \
	    path="$(PREFIX)/$$name"; \
	    while $(IS_OUR_FOLDER) && rmdir "$(DESTDIR)$$path" 2>/dev/null && \
	        [ "$$path" != "$(PREFIX)" ]; do path=$$(dirname "$$path"); done; \
	done

# What is distributed, and whether it is what it should be: packaging/README.md.
DIST ?= out/dist
dist:
	$(Q)packaging/dist '$(DIST)'
check-dist:
	$(Q)packaging/check '$(DIST)'

# Under an old kernel, in a machine that qemu makes: KERNEL=FILE|RELEASE, ONLY='PATTERN...'.
.PHONY: check-kernel
check-kernel: tests
	$(Q)set -f; scripts/other-kernel '$(or $(KERNEL),bullseye)' $(or $(ONLY),$(KERNEL_CHECKS)) || \
	    { status=$$?; [ $$status = 77 ] && echo '0 passed, 0 failed, 1 skipped' || exit $$status; }
KERNEL_CHECKS := test_* sc1* sc20* guard_* advice_* exec_* fork_* io_* segv_* signal_*

clean:
	rm -rf out

help:
	@echo '  make             the library, the command, the simulated GPU, on all processors (-j2: on two)'
	@echo '  make demo        three buggy programs without and with the library; installs what that needs'
	@echo '  make check       the tests that a change is to pass, some minutes; installs what they need'
	@echo '                   (SUITES="unit twins": these alone and whole, and what they run)'
	@echo '  make check-ci    these, and a lot of the others: what CI runs'
	@echo '  make check-all   all tests that need no GPU; has more languages to install'
	@echo '  make check-gpu   the tests that need one'
	@echo '  make check-kernel  tests under an old kernel (KERNEL=bullseye), in a machine that qemu makes'
	@echo '  make bench       benchmarks, on the GPU if there is one'
	@echo '  make sim         the simulated GPU alone'
	@echo '  make tests       every test program, without running any'
	@echo '  make libfuzzer   the fuzzers for clang, to be run by hand'
	@echo '  make debug-build  all but the programs, in the build that checks itself, with its units'
	@echo '  make aarch64     the library for aarch64, and programs for an emulator'
	@echo '  make carry       pack out/carry.tar.xz for a GPU machine'
	@echo '  make setup       install what make and make check need; make setup-all: what all tests need'
	@echo '  make dist        wheels, tarballs and the source archive in DIST=out/dist; make check-dist tries them'
	@echo '  make install     PREFIX=/usr/local DESTDIR='
	@echo '  make uninstall   removes what install has put there'
	@echo '  make clean       remove out/'
	@echo
	@sed -n '/^#   [A-Z]/s/^#   /  /p' Makefile

-include $(addsuffix .d,$(LIB_OBJ) $(COMMAND_OBJ) $(NOP_OBJ) $(FULL_KIND_OBJ) $(SIM_OBJ) $(GPU_OBJ) $(CROSS_OBJ) \
    $(PROGRAMS) $(PROBES) $(TWIN_FIRST).gch $(TWIN_SHARED) $(SURVIVAL_SO) $(OTHER))
