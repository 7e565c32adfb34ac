#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes an SSP with a ring of COUNT masses (ChainMass as FMU), each connected three times: a benchmark of loading.

    make_chain.py ChainMass_fmi2.fmu OUT.ssp [COUNT]
"""
import sys
import zipfile

CONNECTORS = "".join(
    f'<ssd:Connector name="{name}" kind="{kind}"><ssc:Real/></ssd:Connector>'
    for kind, names in (("output", ("x", "v", "F")), ("input", ("x_left", "v_left", "F_right")))
    for name in names)


def connection(start, start_connector, end, end_connector):
    return (f'<ssd:Connection startElement="m{start}" startConnector="{start_connector}" endElement="m{end}" '
            f'endConnector="{end_connector}"/>\n')


def structure(count):
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n'
             '<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" '
             'xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0" name="ring">\n'
             '<ssd:System name="ring">\n<ssd:Elements>\n']
    for i in range(count):
        parts.append(f'<ssd:Component name="m{i}" type="application/x-fmu-sharedlibrary" '
                     f'source="resources/ChainMass.fmu"><ssd:Connectors>{CONNECTORS}</ssd:Connectors>'
                     '</ssd:Component>\n')
    parts.append("</ssd:Elements>\n<ssd:Connections>\n")
    for i in range(count):
        right = (i + 1) % count
        parts += [connection(i, "x", right, "x_left"), connection(i, "v", right, "v_left"),
                  connection(right, "F", i, "F_right")]
    parts.append("</ssd:Connections>\n</ssd:System>\n</ssd:SystemStructureDescription>\n")
    return "".join(parts)


def main():
    fmu, out = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SystemStructure.ssd", structure(count))
        archive.write(fmu, "resources/ChainMass.fmu")


if __name__ == "__main__":
    main()
