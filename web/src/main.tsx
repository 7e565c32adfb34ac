// SPDX-License-Identifier: MIT
import "./page.css";
