# The packages that a build takes, and the one that it makes:
#
#   make deps-all      install what check-all needs; deps-ports, deps-bench: what the
#                      ports and the benchmarks do
#   make dist          the sources in one file, build/gimgxf-VERSION.tar.gz; check-dist:
#                      they build without git, and twice to the same bytes
#   make deb           build a Debian package, build/gimgxf_VERSION_ARCH.deb, from
#                      the tree; it needs what make deps-deb installs

.PHONY: deps deps-all deps-bench deps-deb deps-ports dist check-dist deb check-deb

# Packages of Debian 12 and Ubuntu 24.04: to build, to test, and for check-all.
PACKAGES := gcc make pkg-config libc6-dev libpng-dev libjpeg-dev zlib1g-dev \
            nettle-dev libisal-dev libtiff-dev libwebp-dev libbrotli-dev \
            libjxl-dev python3 python3-numpy python3-pil libjpeg-turbo-progs
PACKAGES_ALL := clang man-db mandoc imagemagick libvips-tools pngcheck libheif-examples \
                libavif-bin libjxl-tools libtiff-tools webp python3-tifffile \
                libimage-exiftool-perl libclang-rt-14-dev zsh fish \
                valgrind cppcheck clang-tidy strace llvm zip locales mmdebstrap
PACKAGES_PORTS := gcc-i686-linux-gnu libc6-dev-i386-cross gcc-s390x-linux-gnu \
                  libc6-dev-s390x-cross gcc-aarch64-linux-gnu \
                  libc6-dev-arm64-cross qemu-user
PACKAGES_DEB := debhelper dpkg-dev fakeroot lintian
PACKAGES_BENCH := imagemagick libvips-tools netpbm graphicsmagick openimageio-tools
deps:
	@tests/support/deps $(PACKAGES)
deps-all: deps
	@tests/support/deps $(PACKAGES_ALL) $(PACKAGES_DEB)
deps-ports: deps
	@tests/support/deps $(PACKAGES_PORTS)
deps-deb: deps
	@tests/support/deps $(PACKAGES_DEB)
deps-bench: deps
	@tests/support/deps $(PACKAGES_BENCH)

# The sources as git has them, or as they were unpacked; dated as the last commit, so
# that the same tree gives the same file.
DIST := $(BUILD)/gimgxf-$(VERSION).tar.gz
SOURCES := Makefile mk cli codecs cuda tests samples man README.md CHANGELOG.md \
           BENCHMARKS.md SECURITY.md TESTING.md CONTRIBUTING.md LICENSE .debian \
           .clang-format .clang-tidy
dist:
	@mkdir -p $(BUILD)
	@if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then \
	    git ls-files -z -- $(SOURCES); \
	else \
	    find $(SOURCES) -type f -print0; \
	fi | LC_ALL=C sort -z | tar -cf - --null -T - --owner=0 --group=0 --numeric-owner \
	    --mode=go=rX,u+w --transform='s,^,gimgxf-$(VERSION)/,' \
	    --mtime="@$$(git log -1 --format=%ct -- . 2>/dev/null | grep . || \
	        stat -c %Y CHANGELOG.md)" | gzip -9n >$(DIST)
	@echo 'made $(DIST)'
# What it holds builds in two folders without git, to the same bytes, and passes its
# quick tests.
check-dist: DIST_PLACE := $(abspath $(BUILD))/dist
check-dist: dist
	rm -rf $(DIST_PLACE)
	mkdir -p $(DIST_PLACE)/bin
	printf '#!/bin/sh\nexit 127\n' >$(DIST_PLACE)/bin/git
	chmod +x $(DIST_PLACE)/bin/git
	for place in one another/place; do \
	    mkdir -p $(DIST_PLACE)/$$place && tar -xf $(DIST) -C $(DIST_PLACE)/$$place && \
	    PATH=$(DIST_PLACE)/bin:$$PATH $(MAKE) -C $(DIST_PLACE)/$$place/gimgxf-$(VERSION) \
	        BUILD=build CC='$(CC)' CUDA=$(CUDA) all || exit; \
	done
	cmp $(DIST_PLACE)/*/gimgxf-*/build/gimgxf $(DIST_PLACE)/*/*/gimgxf-*/build/gimgxf
	PATH=$(DIST_PLACE)/bin:$$PATH $(MAKE) -C $(DIST_PLACE)/one/gimgxf-$(VERSION) \
	    BUILD=build check-quick
	rm -rf $(DIST_PLACE)

# The package is built from that, as debhelper wants its folder at the top.
DEB_TREE := $(BUILD)/deb/gimgxf-$(VERSION)
deb: dist
	rm -rf $(BUILD)/deb
	mkdir -p $(BUILD)/deb
	tar -xf $(DIST) -C $(BUILD)/deb
	mv $(DEB_TREE)/.debian $(DEB_TREE)/debian
	printf 'gimgxf (%s) unstable; urgency=medium\n\n%s\n\n -- %s  %s\n' \
	    '$(VERSION)' '  * CHANGELOG.md says what changed.' \
	    "$$(sed -n 's/^Maintainer: //p' .debian/control)" \
	    "$$(date -u -R -r $(DEB_TREE)/CHANGELOG.md)" >$(DEB_TREE)/debian/changelog
	cd $(DEB_TREE) && CUDA='$(CUDA)' ARCHS='$(ARCHS)' BUILD=build \
	    dpkg-buildpackage -b -us -uc
	mv $(BUILD)/deb/gimgxf_*.deb $(BUILD)
	rm -rf $(BUILD)/deb
# Lintian finds no error in the package, and the program in it turns a picture; as root,
# where there is mmdebstrap, it is installed in a fresh Debian, works, and is removed.
check-deb: deb
	lintian --fail-on error $(BUILD)/gimgxf_$(VERSION)_*.deb
	rm -rf $(BUILD)/unpacked
	dpkg-deb -x $(BUILD)/gimgxf_$(VERSION)_*.deb $(BUILD)/unpacked
	$(BUILD)/unpacked/usr/bin/gimgxf rotate180 samples/f.ppm - | \
	    $(BUILD)/unpacked/usr/bin/gimgxf rotate180 --format ppm - - | \
	    cmp - samples/f.ppm
	@PACKAGE="$$(echo $(BUILD)/gimgxf_$(VERSION)_*.deb)" tests/bare bookworm
