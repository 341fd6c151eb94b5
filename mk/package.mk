# The packages that a build takes, and the one that it makes:
#
#   make deps-all      install what check-all needs; deps-ports, deps-bench: what the
#                      ports and the benchmarks do
#   make deb           build a Debian package, build/gimgxf_VERSION_ARCH.deb, from
#                      the tree; it needs what make deps-deb installs

.PHONY: deps deps-all deps-bench deps-deb deps-ports deb check-deb

# Packages of Debian 12 and Ubuntu 24.04: to build, to test, and for check-all.
PACKAGES := gcc make pkg-config libc6-dev libpng-dev libjpeg-dev zlib1g-dev \
            nettle-dev libisal-dev libtiff-dev libwebp-dev libbrotli-dev \
            python3 python3-numpy python3-pil libjpeg-turbo-progs
PACKAGES_ALL := clang man-db imagemagick libvips-tools pngcheck libheif-examples \
                libavif-bin libjxl-tools libtiff-tools webp gifsicle python3-tifffile \
                libimage-exiftool-perl libclang-rt-14-dev zsh fish \
                valgrind cppcheck clang-tidy strace llvm zip locales mmdebstrap
PACKAGES_PORTS := gcc-i686-linux-gnu libc6-dev-i386-cross gcc-s390x-linux-gnu \
                  libc6-dev-s390x-cross gcc-aarch64-linux-gnu \
                  libc6-dev-arm64-cross qemu-user
PACKAGES_DEB := debhelper dpkg-dev fakeroot lintian
PACKAGES_BENCH := g++ libopencv-core-dev libyuv-dev imagemagick \
                  libvips-tools netpbm graphicsmagick openimageio-tools
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

# The package is built from a copy, as debhelper wants its folder at the top. It
# is dated like the list of changes, so that the same tree gives the same package.
SOURCES := Makefile mk cli codecs cuda tests samples man README.md CHANGELOG.md \
           BENCHMARKS.md SECURITY.md TESTING.md CONTRIBUTING.md LICENSE
DEB_TREE := $(BUILD)/deb/gimgxf-$(VERSION)
deb:
	rm -rf $(BUILD)/deb
	mkdir -p $(DEB_TREE)
	cp -r $(SOURCES) $(DEB_TREE)
	cp -r .debian $(DEB_TREE)/debian
	printf 'gimgxf (%s) unstable; urgency=medium\n\n%s\n\n -- %s  %s\n' \
	    '$(VERSION)' '  * CHANGELOG.md says what changed.' \
	    "$$(sed -n 's/^Maintainer: //p' .debian/control)" \
	    "$$(date -u -R -r CHANGELOG.md)" >$(DEB_TREE)/debian/changelog
	cd $(DEB_TREE) && CUDA='$(CUDA)' ARCHS='$(ARCHS)' BUILD=build \
	    dpkg-buildpackage -b -us -uc
	mv $(BUILD)/deb/gimgxf_*.deb $(BUILD)
	rm -rf $(BUILD)/deb
# Lintian finds no error in the package, and the program in it turns a picture.
check-deb: deb
	lintian --fail-on error $(BUILD)/gimgxf_$(VERSION)_*.deb
	rm -rf $(BUILD)/unpacked
	dpkg-deb -x $(BUILD)/gimgxf_$(VERSION)_*.deb $(BUILD)/unpacked
	$(BUILD)/unpacked/usr/bin/gimgxf rotate180 samples/f.ppm - | \
	    $(BUILD)/unpacked/usr/bin/gimgxf rotate180 --format ppm - - | \
	    cmp - samples/f.ppm
