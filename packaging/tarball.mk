# libsafecopy as built by `make dist`. It can be used where it lies (bin/safecopy finds the library), or
#
#   make install PREFIX=/usr/local DESTDIR=      copies it there
#   make uninstall PREFIX=/usr/local DESTDIR=    takes back what that copied
#
# Another program named safecopy, as Debian has one, lives on beside it in a PREFIX of its own:
# PREFIX=/opt/libsafecopy, and /opt/libsafecopy/bin in front of, or not in, PATH.

PREFIX ?= /usr/local
TO     := $(DESTDIR)$(PREFIX)
FILES  := $(shell cd '$(CURDIR)' && find bin lib include share -type f | sort)

# Ours says so, by its name or in it; another file of that name stays.
IS_THERE = [ -e "$(TO)/$$file" ] || [ -L "$(TO)/$$file" ]
IS_OURS  = case $$file in *libsafecopy*) ;; *) grep -qasw libsafecopy "$(TO)/$$file" ;; esac

# One that is empty goes if its name, or PREFIX, has ours: bin/ of /usr/local stays.
IS_OUR_FOLDER = case "$$path" in *safecopy*) ;; *) false ;; esac

.PHONY: help install uninstall
help:
	@sed -n '/^#  /s/^#   /  /p' Makefile
install:
	@for file in $(FILES); do \
	    { $(IS_THERE); } || continue; \
	    $(IS_OURS) || { echo "make: $(TO)/$$file is not of libsafecopy, and stays: choose another" \
	        "place (make $@ PREFIX=/opt/libsafecopy)" >&2; exit 1; }; \
	done
	@set -e; for file in $(FILES); do \
	    mode=644; case $$file in bin/*) mode=755;; esac; \
	    install -D -m $$mode "$$file" "$(TO)/$$file"; \
	done
	@echo 'installed in $(TO)'
uninstall:
	@for file in $(FILES); do \
	    { $(IS_THERE); } || continue; \
	    if $(IS_OURS); then rm -f "$(TO)/$$file" || exit; \
	    else echo "make: $(TO)/$$file is not of libsafecopy, and stays" >&2; fi; \
	done
	@for file in $(FILES); do \
	    path=$$(dirname "$(PREFIX)/$$file"); \
	    while $(IS_OUR_FOLDER) && rmdir "$(DESTDIR)$$path" 2>/dev/null && \
	        [ "$$path" != "$(PREFIX)" ]; do path=$$(dirname "$$path"); done; \
	done
	@echo 'removed from $(TO)'
