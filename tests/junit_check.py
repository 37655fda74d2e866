#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks JUnit XML on standard input as CI systems read it: junit_check.py TESTS FAILURES SKIPPED."""
import sys
import xml.etree.ElementTree as xml

# Of each element: attributes that it must have, and elements that may be in it.
ELEMENTS = {
    "testsuites": ({"tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"testcase"}),
    "testcase": ({"classname", "name"}, {"failure", "skipped"}),
    "failure": ({"type", "message"}, set()),
    "skipped": ({"message"}, set()),
}


def check(element, faults):
    if element.tag not in ELEMENTS:
        faults.append(f"what is <{element.tag}>?")
        return
    attributes, inner = ELEMENTS[element.tag]
    if set(element.attrib) != attributes:
        faults.append(f"<{element.tag}> has {sorted(element.attrib)}")
    if element.tag in ("testsuite", "testsuites"):
        for what, tag in (("tests", "testcase"), ("failures", "failure")):
            if int(element.get(what)) != len(list(element.iter(tag))):
                faults.append(f"<{element.tag}> counts other {what} than there are")
    for child in element:
        if child.tag not in inner:
            faults.append(f"<{child.tag}> in <{element.tag}>")
        check(child, faults)


def main():
    root = xml.fromstring(sys.stdin.buffer.read())
    faults = []
    if root.tag != "testsuites":
        faults.append(f"the document is <{root.tag}>")
    check(root, faults)
    for tag, wanted in zip(("testcase", "failure", "skipped"), sys.argv[1:]):
        if len(list(root.iter(tag))) != int(wanted):
            faults.append(f"{len(list(root.iter(tag)))} <{tag}>, not {wanted}")
    for fault in faults[:10]:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
