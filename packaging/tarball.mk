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

.PHONY: help install uninstall
help:
	@sed -n '/^#  /s/^#   /  /p' Makefile
install:
	@set -e; for file in $(FILES); do \
	    mode=644; case $$file in bin/*) mode=755;; esac; \
	    install -D -m $$mode "$$file" "$(TO)/$$file"; \
	done
	@echo 'installed in $(TO)'
uninstall:
	@for file in $(FILES); do rm -f "$(TO)/$$file"; done
	@rmdir -p --ignore-fail-on-non-empty $(addprefix "$(TO)/,$(addsuffix ",share/doc/libsafecopy \
	    share/licenses/libsafecopy)) 2>/dev/null || :
	@echo 'removed from $(TO)'
