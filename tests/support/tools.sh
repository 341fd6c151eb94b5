# Programs of other projects that tests and benchmarks use. A program of that
# name may be another one, or a stand-in: so it is used only after it has said
# itself which one it is, and that it is new enough. bash scripts source this file;
# others run it:
#
#   bash tests/support/tools.sh NAME      prints the path of the program

# first_of PROGRAMS SAYS LEAST ARGUMENT...: prints the path of the first one in
# PATH that says SAYS, a regular expression, and then a version from LEAST on, when
# it is called with the arguments.
first_of() {
    local programs=$1 says=$2 least=$3 path said
    shift 3
    # shellcheck disable=SC2086 # the programs are words
    while read -r path; do
        said=$(LC_ALL=C timeout 20 "$path" "$@" 2>&1 </dev/null |
            head -c 4096 | tr -d '\0')
        [[ $said =~ $says([0-9]+(\.[0-9]+)*) ]] || continue
        printf '%s\n' "$least" "${BASH_REMATCH[1]}" | sort -VC || continue
        echo "$path"
        return
    done < <(type -ap $programs)
    return 1
}

# python_with MODULES VERSION LEAST: the first Python that has these modules, of
# which an expression is the version. What PATH has may be a script that looks for
# the Python, so the program itself is printed.
python_with() {
    local python ask="import sys, $1; assert sys.version_info >= (3, 9)"
    python=$(first_of python3 '^Python with ' "$3" \
        -c "$ask; print('Python with', $2)") &&
        "$python" -c 'import sys; print(sys.executable)'
}

# find_tool NAME: prints the path of a program, or fails.
find_tool() {
    case $1 in
    ImageMagick)
        first_of 'magick convert-im6 convert' 'Version: ImageMagick ' 6.9 -version
        ;;
    avifdec | avifenc) first_of "$1" '^Version: ' 0.9 --version ;;
    cjpeg | djpeg | jpegtran)
        first_of "$1" '^libjpeg-turbo version ' 2.0 -version
        ;;
    cjxl | djxl) first_of "$1" "^$1 v" 0.7 --version ;;
    exiftool) first_of "$1" '^ExifTool version ' 12 -ver -v ;;
    fish) first_of "$1" '^fish, version ' 3.1 --version ;;
    gm) first_of "$1" '^GraphicsMagick ' 1.3 version ;;
    heif-convert | heif-enc) first_of "$1" ' libheif version: ' 1.12 -h ;;
    jq) first_of "$1" '^jq-' 1.5 --version ;;
    make) first_of "$1" '^GNU Make ' 4.2 --version ;;
    man) first_of "$1" '^man ' 2.8 --version ;;
    mogrify) first_of "$1" 'Version: ImageMagick ' 6.9 -version ;;
    numpy) python_with numpy numpy.__version__ 1.19 ;;
    oiiotool) first_of "$1" '(^|[[:space:]])OpenImageIO ' 2 --help ;;
    pamflip | pamtopam) first_of "$1" 'Netpbm Version: Netpbm ' 10.86 -version ;;
    Pillow) python_with PIL,numpy PIL.__version__ 8 ;;
    pngcheck) first_of "$1" '^PNGcheck, version ' 2.3 -h ;;
    python3) python_with platform 'platform.python_version()' 3.9 ;;
    objdump | readelf) first_of "$1" "^GNU $1 \(.*\) " 2.30 --version ;;
    setpriv | unshare) first_of "$1" "^$1 from util-linux " 2.33 --version ;;
    strace) first_of "$1" '^strace -- version ' 5.0 -V ;;
    tiff2rgba | tiffcp) first_of "$1" '^LIBTIFF, Version ' 4.2 -h ;;
    vips) first_of "$1" '^vips-' 8.9 --version ;;
    zsh) first_of "$1" '^zsh ' 5.5 --version ;;
    *)
        echo "tests/support/tools.sh: it knows no $1" >&2
        return 2
        ;;
    esac
}

# has_tool NAME: whether there is such a program. From then on its name means it:
# what stands before it in PATH is passed over by a script in $tools/NAME. Tests
# share $tools, so each program is looked for once. A Python of which no module is
# asked for starts without those that are installed, in a quarter of the time.
has_tool() {
    local path made command=$1 options=
    case $1:$PATH: in
    *":${tools:?}/$1:"* | python3:*"$tools"/numpy:* | python3:*"$tools"/Pillow:*)
        return 0
        ;;
    esac
    if [ ! -d "$tools/$1" ]; then
        path=$(find_tool "$1") || return
        case $1 in
        ImageMagick) command=magick ;;
        numpy | Pillow) command=python3 ;;
        python3) options=' -S' ;;
        esac
        mkdir -p "$tools" && made=$(mktemp -d "$tools/.XXXXXX") || return
        if [ "$options" ] || [ "$(type -P "$command")" != "$path" ]; then
            printf '#!/bin/sh\nexec %q%s "$@"\n' "$path" "$options" >"$made/$command"
            chmod +x "$made/$command"
        fi
        mv -T "$made" "$tools/$1" 2>/dev/null || rm -rf "$made"
    fi
    PATH=$tools/$1:$PATH
    hash -r
}

[ "${BASH_SOURCE[0]}" != "$0" ] || find_tool "$@"
